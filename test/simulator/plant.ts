/* Puts the fault that PLANTED_FAULT names into the code that is loaded after this. */
import { registerHooks } from 'node:module';
import { PLANTED_FAULTS } from './planted-faults.ts';

/** @throws when the code has changed, so that the fault has no place. */
export function plantFault(name: string): void {
  const fault = PLANTED_FAULTS[name];
  if (fault === undefined) throw new Error(`There is no fault ${name}.`);
  const url = new URL(`../../${fault.file}`, import.meta.url).href;
  registerHooks({
    load(specifier, context, nextLoad) {
      const loaded = nextLoad(specifier, context);
      if (specifier !== url) return loaded;
      let source = Buffer.from(loaded.source as Uint8Array).toString();
      for (const [found, planted] of fault.changes) {
        if (source.split(found).length !== 2)
          throw new Error(`${fault.file} has no one place for "${name}": ${found}`);
        source = source.replace(found, () => planted);
      }
      return { ...loaded, source };
    },
  });
}
