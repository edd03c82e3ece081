import { registerHooks } from 'node:module';

/*
 * Imported before a program starts, this turns direct responses off: Node's own response then answers every request.
 */

const SWITCH = /DIRECT_RESPONSES = (?:true|false)/;

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    if (!url.endsWith('/src/http/wire/direct-response.ts')) return loaded;
    const source = Buffer.from(loaded.source as Uint8Array).toString();
    if (!SWITCH.test(source)) throw new Error(`There is no switch for direct responses in ${url}.`);
    return { ...loaded, source: source.replace(SWITCH, 'DIRECT_RESPONSES = false') };
  },
});
