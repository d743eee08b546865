import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { copyFile, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join, resolve } from 'node:path';
import { type OutputOptions, type RolldownOptions, rolldown } from 'rolldown';
import { minifySync } from 'rolldown/experimental';
import { GRAMMAR_MODULE } from '../src/python/definitions/grammar.js';
import { breakLines } from './break-lines.js';
import { writeLibraryTypes } from './library-api.js';
import { writeManifestOutlines, writeOperations } from './operations.js';

/** Bundles src into dist, split so that a command loads only what it runs. Returns the modules in it. */
export async function bundle(): Promise<string[]> {
  writeOperations();
  writeManifestOutlines();
  writeLibraryTypes();
  // The commands import what was just written.
  const { writeCommands } = await import('./commands.js');
  writeCommands();
  const modules = await Promise.all([bundleCommandLine(), bundleService(), bundleWorkers(), bundleReader()]);
  const require = createRequire(import.meta.url);
  await copyFile(require.resolve(GRAMMAR_MODULE), join('dist', basename(GRAMMAR_MODULE)));
  return modules.flat();
}

/**
 * What is loaded together is in one file, because finding a file takes longer than reading it: what every command
 * loads, what a command with one request loads, and what sends it. Each takes along what it imports.
 */
const GROUPS = [
  {
    name: 'start',
    test: /src\/cli\/(main|connect\/folders|command\/flags|completion\/safe-value)\.ts$/,
    priority: 3,
  },
  { name: 'connect', test: /src\/cli\/completion\/live\.ts$/, priority: 2 },
  { name: 'command', test: /src\/cli\/(run-command|commands\/operation)\.ts$/, priority: 1 },
  { name: 'http', test: /src\/wire\/undici\.ts$/ },
];

/** Imports of packages that are left out, because nothing here needs them: who imports, and what. */
const LEFT_OUT = [
  // HTTP/2, which is off, and bodies in the form of `fetch`.
  [/\/undici\//, /\/(client-h2|web\/fetch\/body)\.js$/],
  // A check of settings against a schema, and changes of the settings of earlier versions.
  [/\/conf\//, /^(ajv|semver)/],
  // A check of requests against schemas, which the contract does; a log, which the service writes itself; requests
  // without a network; plugins that only some releases of the framework accept; HTTP/2, which is off.
  [/\/fastify\//, /^(@fastify\/ajv-compiler|pino|light-my-request|semver|node:http2)$/],
  // Values that one of several schemas describes, which no answer has.
  [/\/fast-json-stringify\//, /\/validator$/],
  // A drawing of the routes.
  [/\/find-my-way\//, /\/pretty-print$/],
  // Changes of tables, which migrations write as SQL, and statements of other databases.
  [/\/kysely\//, /\/(schema\/schema|with-schema-plugin|merge-query-builder)\.js$/],
] as const;

const leaveOut = {
  name: 'leave-out',
  resolveId: (id: string, from = '') =>
    LEFT_OUT.some(([who, what]) => who.test(from) && what.test(id)) ? `left-out:${id}` : null,
  load(id: string) {
    if (id.startsWith('left-out:')) return createStandIn(id);
    // The two that ora chooses by itself, of ninety.
    return id.endsWith('/cli-spinners/spinners.json') ? pickJson(id, ['dots', 'line']) : null;
  },
};

function pickJson(path: string, names: readonly string[]): string {
  const all = JSON.parse(readFileSync(path, 'utf8'));
  return JSON.stringify(Object.fromEntries(names.map((name) => [name, all[name]])));
}

/** Shortens the names of local variables in packages. Those of functions and classes stay, for the traces of errors. */
const shortenNames = {
  name: 'shorten-names',
  transform: {
    // What may be removed when it is not used is marked by comments, which would be lost.
    filter: { id: /\/node_modules\/.*\.[cm]?js$/, code: { exclude: /__PURE__|__NO_SIDE_EFFECTS__/ } },
    handler(code: string, id: string) {
      const shortened = minifySync(id, code, {
        module: /^(import|export)\b/m.test(code),
        compress: false,
        mangle: { toplevel: false, keepNames: true },
        codegen: { removeWhitespace: false },
      });
      if (shortened.errors.length > 0) throw new Error(`${id}: ${shortened.errors[0]?.message}`);
      return { code: shortened.code, map: null };
    },
  },
};

/** The parser of HTTP, compiled with and without vectors: bytes take less space as files than as text. */
const writeParsers = {
  name: 'write-parsers',
  load(id: string) {
    const [, name] = /\/undici\/lib\/llhttp\/(llhttp(?:_simd)?)-wasm\.js$/.exec(id) ?? [];
    if (!name) return null;
    const bytes: Buffer = createRequire(id)(id);
    writeFileSync(`dist/${name}.wasm`, bytes);
    // From a chunk.
    return `module.exports = require('node:fs').readFileSync(require('node:path').join(__dirname, '../${name}.wasm'));`;
  },
};

/** What can be loaded and taken apart, but throws when it is called. */
const createStandIn = (name: string) => `
const createStandIn = (name) => {
  const fail = () => { throw new Error(name + ' is not part of this program.'); };
  return new Proxy(function () {}, {
    get: (target, key) => typeof key === 'symbol' || key === '__esModule' || key in target ? target[key] : createStandIn(name + '.' + key),
    apply: fail,
    construct: fail,
  });
};
module.exports = createStandIn(${JSON.stringify(name)});`;

/** Writes out the imports of `commands/`, and leaves the views there out, because the built tree has them. */
const bundleCommands = {
  name: 'bundle-commands',
  transform: {
    filter: { id: /\/cli\/(run-command|commands\/[a-z-]+)\.ts$/ },
    handler(code: string, id: string) {
      if (!id.endsWith('/run-command.ts')) return code.replace(/^export (?=(const|function) view\b)/m, '');
      const names = readdirSync('src/cli/commands').map((file) => file.replace('.ts', ''));
      const imports = names.map((name) => `'${name}': () => import('./commands/${name}.ts')`);
      // biome-ignore lint/suspicious/noTemplateCurlyInString: it is a template there
      return code.replace('import(`./commands/${name}.ts`)', `({ ${imports} })[name]()`);
    },
  },
};

/** The HTTP client as the service takes it; commands load its chunk themselves, which is one file less. */
const HTTP_ENTRY = 'entry:http';

/**
 * The command line and the library are CommonJS, which Node starts in half the time that it needs for as many ES modules. They
 * share their chunks, and the service has its HTTP client from there. An ES module passes the exports of the library on.
 */
async function bundleCommandLine(): Promise<string[]> {
  await writePassing('client', 'src/library/index.ts');
  return writeBundle(
    {
      input: { cli: 'src/cli/main.ts', client: 'src/library/index.ts', http: 'http' },
      plugins: [
        writeParsers,
        bundleCommands,
        {
          name: 'service',
          // One copy of the service is enough, and its packages are ES modules.
          resolveId: (id) => {
            if (id === 'http') return HTTP_ENTRY;
            return id.endsWith('/service/index.js') ? { id: '../service.js', external: true } : null;
          },
          load: (id) => (id === HTTP_ENTRY ? `export * from '${resolve('src/wire/undici.ts')}';` : null),
        },
      ],
    },
    {
      format: 'cjs',
      entryFileNames: '[name].cjs',
      chunkFileNames: 'chunks/[name]-[hash].cjs',
      codeSplitting: { groups: GROUPS },
    },
    { isSmall: true },
  );
}

/** Writes an ES module that passes on the exports of a CommonJS file of the same name. */
async function writePassing(name: string, source: string): Promise<void> {
  const names = Object.keys(await import(new URL(`../${source}`, import.meta.url).href)).sort();
  const module = `import exported from './${name}.cjs';\nexport const {\n  ${names.join(',\n  ')}\n} = exported;\n`;
  writeIfChanged(`dist/${name}.js`, module);
}

/**
 * What the service loads at its start is one CommonJS file, because Node.js 20 can keep the compiled code of such a file:
 * see disk/kept-code.ts. An ES module passes its exports on.
 */
async function bundleService(): Promise<string[]> {
  await writePassing('service', 'src/service/index.ts');
  return writeBundle(
    {
      input: { service: 'src/service/index.ts' },
      plugins: [
        {
          name: 'http',
          resolveId: (id) => (id.endsWith('/wire/undici.js') ? { id: './http.cjs', external: true } : null),
          renderChunk: (code, { fileName }) =>
            fileName.includes('/') ? code.replace(/(["'`])\.\/http\.cjs\1/g, '$1../http.cjs$1') : null,
        },
      ],
    },
    {
      format: 'cjs',
      entryFileNames: '[name].cjs',
      chunkFileNames: ({ name }) => (name === 'service-start' ? '[name].cjs' : 'chunks/[name]-[hash].cjs'),
      codeSplitting: { groups: [{ name: 'service-start', test: /src\/service\/index\.ts$/ }] },
      // Kept code cannot import: see disk/kept-code.ts.
      dynamicImportInCjs: false,
    },
  );
}

function bundleWorkers(): Promise<string[]> {
  return bundlePrograms(
    {
      'image-worker': 'src/preview/image/worker.ts',
      'video-worker': 'src/preview/video/worker.ts',
    },
    'dist',
  );
}

/** One CommonJS file, because it starts in a third less time than ES modules. */
function bundleReader(): Promise<string[]> {
  return writeBundle(
    { input: { 'pack-reader': 'src/python/reader.ts' } },
    { format: 'cjs', entryFileNames: '[name].cjs', codeSplitting: false },
    { isSmall: true },
  );
}

/** Bundles programs as ES modules. */
export function bundlePrograms(input: Record<string, string>, folder: string): Promise<string[]> {
  return writeBundle({ input }, { format: 'esm', chunkFileNames: 'chunks/[name]-[hash].js' }, { folder });
}

/**
 * Bundles programs with what package.json does not list as a dependency: one file of a bundle is found quicker than many
 * of a folder. A program that is small loads modules of Node.js when it first uses them.
 */
async function writeBundle(
  options: RolldownOptions,
  output: OutputOptions,
  { folder = 'dist', isSmall = false }: { readonly folder?: string; readonly isSmall?: boolean } = {},
): Promise<string[]> {
  const installed = await listInstalled();
  const build = await rolldown({
    ...options,
    plugins: [options.plugins, leaveOut, shortenNames],
    // Declarations, which do nothing by themselves.
    treeshake: { moduleSideEffects: [{ test: /\/src\/(contract|cli\/views)\//, sideEffects: false }] },
    platform: 'node',
    // The oldest that package.json accepts: `using` is compiled.
    transform: { target: 'node20.19' },
    external: (id) => installed.some((name) => id === name || id.startsWith(`${name}/`)),
    // Which modules share a file is decided by GROUPS.
    checks: { ineffectiveDynamicImport: false },
    // People who install a clone read what a build says.
    onLog: (level, log) => {
      if (level === 'warn') throw new Error(`${log.code}: ${log.message}`);
    },
  });
  const written = await build.generate({
    ...output,
    // Names stay, for the traces of errors.
    minify: { compress: true, mangle: false, codegen: true },
    comments: false,
  });
  await build.close();
  return written.output.flatMap((file) => {
    if (file.type === 'asset') throw new Error(`Unexpected file ${file.fileName}.`);
    const code = breakLines(escapeWide(isSmall ? deferBuiltins(file.code) : file.code));
    writeIfChanged(join(folder, file.fileName), code);
    return file.moduleIds;
  });
}

/** Modules of Node.js that take milliseconds to load, and that most commands do not use. */
const DEFERRED =
  /\brequire\((["'`])node:(crypto|child_process|module|readline|stream|zlib|fs\/promises|timers\/promises|stream\/promises)\1\)/g;

/** Interop of ES modules lists the exports, which loads the module, but reads none: some of them are deprecated. */
const DEFER_BUILTIN = `const deferBuiltin = (name) => new Proxy({}, {
  get: (_, key) => require(name)[key],
  has: (_, key) => key in require(name),
  ownKeys: () => Reflect.ownKeys(require(name)),
  getOwnPropertyDescriptor: (_, key) => ({ configurable: true, enumerable: true, get: () => require(name)[key] }),
});`;

/** Makes CommonJS load modules of Node.js when their first export is used. */
function deferBuiltins(code: string): string {
  const changed = code.replace(DEFERRED, (_, __, name) => `deferBuiltin("node:${name}")`);
  if (changed === code) return code;
  return `${DEFER_BUILTIN}\n${changed}`;
}

/** V8 keeps a source with one character beyond Latin-1 at two bytes for each, and reads ASCII without decoding it. */
function escapeWide(code: string): string {
  return code.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Unchanged files are not written again: programs of another run of the tests may be loading them. */
function writeIfChanged(path: string, text: string): void {
  if (existsSync(path) && readFileSync(path, 'utf8') === text) return;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

async function listInstalled(): Promise<string[]> {
  const { dependencies, optionalDependencies } = JSON.parse(await readFile('package.json', 'utf8'));
  return Object.keys({ ...dependencies, ...optionalDependencies });
}
