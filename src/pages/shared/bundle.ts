import { posix } from 'node:path';
import { type PageFile, projectFile, readSource } from './hashed-files.ts';

/*
 * One file of many modules, so that a page takes one request for its scripts. Each module becomes a function that is
 * called once, after those that it imports. Only the forms of import and export that our modules and their packages
 * have are known; any other throws.
 */

const IMPORT = /(?<=^|[;\n])import\s*(?:([\w$]+)|\{([^}]*)\})?\s*(?:from)?\s*(['"])([^'"]+)\3;?/g;
const EXPORT_LIST = /(?<=^|[;}\n])export\s*\{([^}]*)\}(?:\s*from\s*(['"])([^'"]+)\2)?;?/g;
const EXPORT_DEFAULT = /(?<=^|[;}\n])export\s+default\s+/g;
const EXPORT = /(?<=^|\n)export +(?=(?:async )?(?:function\*?|class|const) ([\w$]+))/g;
const UNKNOWN = /(?<=^|\n)(?:import|export)\b(?! ?\().*/;

/** Comments that stand on lines of their own, but no licences. */
const COMMENTS = /^[ \t]*(?:\/\*(?!!)(?:[^*]|\*(?!\/))*\*\/|\/\/.*)[ \t]*\n/gm;

/** The modules that are imported by a name. `global`: the file is a script, and this variable has what it exports. */
export type Packages = ReadonlyMap<string, PageFile & { readonly global?: string }>;

interface Module extends PageFile {
  /** The source as the body of a function. `toName` names an imported module, by what the source calls it. */
  readonly write: (toName: (specifier: string) => string) => string;
  readonly imports: readonly string[];
}

/** `a as b, c` as pairs of names. */
function readNames(list: string): readonly (readonly [name: string, as: string])[] {
  return list
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')
    .map((item) => {
      const [name = '', as = name] = item.split(/\s+as\s+/);
      return [name, as];
    });
}

/** @throws Error for a form of import or export that is not known. */
async function readModule(file: PageFile & { readonly global?: string }): Promise<Module> {
  const text = (await readSource(file)).replaceAll(COMMENTS, '');
  const source = file.global === undefined ? text : `${text}\nexport { ${file.global} as default };`;
  const imports = [...source.matchAll(IMPORT)].map(([, , , , specifier = '']) => specifier);
  const others = [...source.matchAll(EXPORT_LIST)].flatMap(([, , , specifier]) => specifier ?? []);
  const write = (toName: (specifier: string) => string) => {
    const exports: string[] = [];
    const body = source
      .replaceAll(
        IMPORT,
        (_, whole: string | undefined, list: string | undefined, _quote, specifier: string) => {
          const pairs = [
            ...(whole === undefined ? [] : [['default', whole] as const]),
            ...readNames(list ?? ''),
          ];
          if (pairs.length === 0) return '';
          const names = pairs.map(([name, as]) => (name === as ? name : `${name}: ${as}`));
          return `const { ${names.join(', ')} } = ${toName(specifier)};`;
        },
      )
      .replaceAll(EXPORT_LIST, (_, list: string, _quote, specifier: string | undefined) => {
        const from = specifier === undefined ? '' : `${toName(specifier)}.`;
        for (const [name, as] of readNames(list)) exports.push(`${as}: ${from}${name}`);
        return '';
      })
      .replaceAll(EXPORT_DEFAULT, () => {
        exports.push('default: $default');
        return 'const $default = ';
      })
      .replaceAll(EXPORT, (_, name: string) => {
        exports.push(name);
        return '';
      })
      .replaceAll('import.meta.url', `new URL('${file.name}', import.meta.url).href`);
    const [unknown] = UNKNOWN.exec(body) ?? [];
    if (unknown !== undefined) throw new Error(`${file.name} cannot be bundled: ${unknown}`);
    return `(() => {\n${body.trim()}\nreturn { ${exports.join(', ')} };\n})();`;
  };
  return { ...file, imports: [...imports, ...others], write };
}

/**
 * The text of one module that does what `entry` does, and has the exports of `entry` as its default. `packages` has
 * the files of modules that are imported by a name. The module lies in the folder where the paths of all modules begin.
 * @throws Error when modules import each other in a circle.
 */
export async function bundle(entry: PageFile, packages: Packages): Promise<string> {
  const numbers = new Map<string, number>();
  const open = new Set<string>();
  const parts: string[] = [];
  const resolve = (from: PageFile, specifier: string) => {
    const found = specifier.startsWith('.')
      ? projectFile(posix.join(posix.dirname(from.name), specifier))
      : packages.get(specifier);
    if (found === undefined) throw new Error(`${from.name} imports ${specifier}, which pages do not have.`);
    return found;
  };
  const add = async (file: PageFile): Promise<void> => {
    if (numbers.has(file.name)) return;
    if (open.has(file.name)) throw new Error(`${file.name} imports itself in a circle.`);
    open.add(file.name);
    const module = await readModule(file);
    for (const specifier of module.imports) await add(resolve(file, specifier));
    const number = numbers.size;
    const text = module.write((specifier) => `m${numbers.get(resolve(file, specifier).name)}`);
    numbers.set(file.name, number);
    parts.push(`const m${number} = ${text}\n`);
  };
  await add(entry);
  return `${parts.join('')}export default m${parts.length - 1};\n`;
}
