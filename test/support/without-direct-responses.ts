import { registerHooks } from 'node:module';

/*
 * Imported before a program starts, this turns the package direct-http off: Node alone then answers every request.
 */

const SWITCH = /ENABLED = (?:true|false)/;

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    if (!url.endsWith('/packages/direct-http/src/main.ts')) return loaded;
    const source = Buffer.from(loaded.source as Uint8Array).toString();
    if (!SWITCH.test(source)) throw new Error(`There is no switch in ${url}.`);
    return { ...loaded, source: source.replace(SWITCH, 'ENABLED = false') };
  },
});
