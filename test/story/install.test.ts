import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { publint } from 'publint';
import semver from 'semver';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, onTestFinished, type TestContext, test } from 'vitest';
import { findSecrets } from '../../src/pack/secrets.js';
import { homeForTest, type Ran } from '../support/cli.js';
import {
  explainMissingNetwork,
  installPackages,
  listPackages,
  type Packed,
  packRepository,
  runProgram,
} from '../support/installation.js';
import { readLibraryProgram, stripTypes } from '../support/library-page.js';
import { moveStore } from '../support/moved-store.js';
import { openSharedPlaces } from '../support/shared-places.js';

const folder = mkdtempSync(join(tmpdir(), 'regen-install-'));
const prefix = join(folder, 'prefix');
const own = join(prefix, 'lib', 'node_modules', 'regen-cli');
const manifest = JSON.parse(readFileSync('package.json', 'utf8'));
const project = join(folder, 'project');
const majors = [20, 22, 24];
/** The package of npm that holds `node` for this machine. */
const { platform, arch } = process;
const binaries = `node-${platform === 'darwin' && arch === 'arm64' ? 'bin-' : ''}${platform}-${arch}`;
const folderOfNode = (major: number) => join(folder, `node-${major}`);
/** Those that npm has to bring. */
const brought = majors.filter((major) => !process.versions.node.startsWith(`${major}.`));
let packed: Packed;
/** Why nothing could be installed. */
let offline: string | undefined;
let globally: Ran;
let inProject: Ran;
/** How npm brought each of `brought`. */
let nodes: Ran[];

beforeAll(async () => {
  for (const made of [prefix, project, ...majors.map(folderOfNode)]) mkdirSync(made);
  writeFileSync(join(project, 'package.json'), '{ "type": "module", "private": true }');
  [packed, offline] = await Promise.all([
    packRepository(join(folder, 'repository')),
    explainMissingNetwork(),
  ]);
  if (offline) return;
  // All at once: npm mostly waits.
  [globally, inProject, ...nodes] = await Promise.all([
    installPackages([packed.tarball], prefix, '--global'),
    installPackages([packed.tarball], project),
    ...brought.map((major) => installPackages([`${binaries}@${major}`], folderOfNode(major))),
  ]);
});

afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));

const needsInstall = ({ skip }: TestContext) => skip(offline !== undefined, offline);
const readPackedText = (path: string) => readFileSync(join(packed.folder, path), 'utf8');

test('publint has nothing to say about the tarball', async () => {
  const { buffer: tarball } = new Uint8Array(readFileSync(packed.tarball));
  const { messages } = await publint({ pack: { tarball }, strict: true });
  expect(messages).toEqual([]);
});

test('the tarball contains the program, its types and its documents, and is small', async () => {
  const shapes = [
    /^(package\.json|LICENSE|Containerfile|(README|CHANGELOG|CONTRIBUTING|SECURITY)\.md|bench\/results\.md|bin\/(regen\.js|package\.json))$/,
    /^dist\/([\w-]+|chunks\/[\w@.-]+)\.c?js$/,
    /^dist\/commands\/[\w-]+\.json$/,
    /^dist\/man\/regen(-[\w-]+)?\.1$/,
    /^dist\/((tree-sitter-python|llhttp(_simd)?)\.wasm|THIRD-PARTY-LICENSES)$/,
    /^dist\/types\/[\w/.-]+\.d\.ts$/,
    /^completions\/(_regen|regen\.(bash|fish|ps1))$/,
    /^docs\/(([\w-]+\/)?[\w-]+\.(md|svg|webp)|openapi\.json|pictures\/photos\.txt)$/,
    /^skills\/regen\/SKILL\.md$/,
    /^src\/contract\/naming\/comfy\.json$/,
    /^examples\/(hello-nodes\/\w+(\.\w+)?|comfyui\/[\w.]+\.json|service\/(regen\.service|nginx\.conf))$/,
  ];
  const paths = packed.files.map(({ path }) => path);
  expect(paths.filter((path) => !shapes.some((shape) => shape.test(path)))).toEqual([]);
  for (const shape of shapes) expect(paths.some((path) => shape.test(path))).toBe(true);
  // 9 kB of it are line breaks, for the traces of errors; 55 kB are the pages with the parser of Markdown; 670 kB are pictures.
  expect(packed.size).toBeLessThan(2_150_000);
  const files = packed.files.map(({ path, size }) => ({ path, size, absolute: join(packed.folder, path) }));
  expect(await findSecrets(files.map((file) => ({ ...file, mode: '100644' as const })))).toEqual([]);
});

test('the pages in the tarball link only to files in it', () => {
  const paths = packed.files.map(({ path }) => path);
  const links = paths
    .filter((path) => path.endsWith('.md'))
    .flatMap((path) =>
      [...readPackedText(path).matchAll(/\]\(([^)#\s:]+)(?:#[^)]*)?\)/g)].map(([, to = '']) =>
        join(dirname(path), to),
      ),
    );
  expect(links).toContain('docs/quickstart.md');
  const isPacked = (path: string) => paths.some((one) => one === path || one.startsWith(`${path}/`));
  expect(links.filter((path) => !isPacked(path))).toEqual([]);
});

/** Paths of the files in `dist` whose names end so. */
const listPublished = (ending: string) =>
  packed.files.map(({ path }) => path).filter((path) => path.startsWith('dist/') && path.endsWith(ending));

test('no program has a line that would fill a terminal above the trace of an error, workers included', () => {
  const paths = [...listPublished('.js'), ...listPublished('.cjs')];
  expect(paths).toEqual(expect.arrayContaining(['dist/video-worker.js', 'dist/pack-reader.cjs']));
  const lines = paths.flatMap((path) => readPackedText(path).split('\n'));
  // The named characters of HTML, and classes of Unicode: data, which throws nothing.
  const code = lines.filter((line) => !/Uint16Array|regex_default/.test(line));
  expect(Math.max(...code.map((line) => line.length))).toBeLessThan(2_000);
});

/** What packages would import in code that they write as text, which they do not here. */
const WRITTEN = /^(ajv\/dist\/runtime\/equal|fast-json-stringify\/lib\/(validator|serializer))$/;

/** The package of an imported module. */
const toPackage = (name: string) => /^(?:@[^/]+\/)?[^/]+/.exec(name)?.[0] as string;

test('what the program imports is in the tarball, in node or among the dependencies', () => {
  const scripts = [...listPublished('.js'), ...listPublished('.cjs')];
  const imported = scripts.flatMap((path) =>
    [
      // Comments name types.
      ...readPackedText(path)
        .replace(/\/\*[\s\S]*?\*\/|^\s*(?:\/\/|\*).*$/gm, '')
        .matchAll(
          /^(?:import|(?:import|export|\}) .*?from) "([^"]+)";$|\b(?:import|require)\(["'`]([\w@./:-]+)["'`]\)/gm,
        ),
    ].map(([, from, dynamic]) => ({ path, name: (from ?? dynamic) as string })),
  );
  const missing = imported.filter(({ path, name }) =>
    name.startsWith('.')
      ? !scripts.includes(join(dirname(path), name))
      : !(
          toPackage(name) in { ...manifest.dependencies, ...manifest.optionalDependencies } ||
          // undici uses some that only newer releases have.
          name.startsWith('node:') ||
          WRITTEN.test(name) ||
          builtinModules.includes(name)
        ),
  );
  expect(imported.length).toBeGreaterThan(100);
  expect(missing).toEqual([]);
});

test('what its types import is in the tarball, in node or among the dependencies', () => {
  const imported = listPublished('.d.ts').flatMap((path) =>
    Array.from(
      readPackedText(path).matchAll(/(?:\bfrom |\bimport\()["']([^"'.][^"']*)["']/g),
      ([, name]) => name as string,
    ),
  );
  expect(imported.length).toBeGreaterThan(2);
  const known = { ...manifest.dependencies, ...manifest.optionalDependencies };
  expect(imported.filter((name) => !(name in known) && !name.startsWith('node:'))).toEqual([]);
});

test('its types carry the descriptions of the contract, and the library needs no types of zod', () => {
  const types = readPackedText('dist/types/library/api.generated.d.ts');
  expect(types).toMatch(
    /\* Start a relight task\.\n[^/]*`POST \S+image-relight`\n +\*\/\n +readonly relight: /,
  );
  expect(types).toMatch(/interface Node \{[\s\S]*\/\*\* Display name \*\/\s+name\?: string/);
  const reached = new Set<string>();
  const reach = (path: string) => {
    if (reached.has(path)) return;
    reached.add(path);
    for (const [, from] of readPackedText(path).matchAll(/(?:from |import\()["'](\.[^"']+)\.js["']/g))
      reach(join(dirname(path), `${from}.d.ts`));
  };
  reach('dist/types/library/index.d.ts');
  expect(reached.size).toBeGreaterThan(5);
  expect([...reached].filter((path) => path.includes('/zod/'))).toEqual([]);
});

test('each package is either bundled, with its licence, or installed', () => {
  const licenses = readPackedText('dist/THIRD-PARTY-LICENSES');
  const licensed = new Set(
    Array.from(licenses.matchAll(/^(\S+) \d[\d.]+ \(/gm), ([, name]) => name as string),
  );
  const inCommandLine = ['commander', 'chalk', 'ora', '@inquirer/core', 'conf'];
  const inService = ['fastify', 'kysely', 'undici'];
  expect([...licensed]).toEqual(
    expect.arrayContaining([...inCommandLine, ...inService, 'zod', '@vscode/tree-sitter-wasm']),
  );
  const installed = { ...manifest.dependencies, ...manifest.optionalDependencies };
  expect([...licensed].filter((name) => name in installed)).toEqual([]);
  // Packages above import these for what regen does not use.
  const leftOut = ['fast-uri', 'iconv-lite', 'pino'];
  expect(leftOut.filter((name) => licensed.has(name))).toEqual([]);
});

test('npm installs the tarball globally, and each package in it accepts the oldest Node that regen does', (context) => {
  needsInstall(context);
  expect(globally).toMatchObject({ exit: 0 });
  expect(globally.stderr).not.toMatch(/EBADENGINE|deprecated/);
  const oldest = semver.minVersion(manifest.engines.node) as semver.SemVer;
  const refusing = listPackages(join(own, 'node_modules'))
    .map((path) => JSON.parse(readFileSync(path, 'utf8')))
    .filter(({ engines }) => engines?.node && !semver.satisfies(oldest, engines.node));
  expect(refusing.map(({ name, version, engines }) => `${name} ${version}: ${engines.node}`)).toEqual([]);
});

test.for(majors)(
  'under Node %i the installed program publishes a pack as its first command',
  async (major, context) => {
    needsInstall(context);
    const PATH = [join(prefix, 'bin'), findNodeFolder(major, context), process.env.PATH].join(delimiter);
    const home = homeForTest();
    const regen = (...argv: string[]) => runProgram('regen', argv, { cwd: home, env: { PATH, HOME: home } });
    onTestFinished(async () => void (await regen('serve', 'stop')));

    expect((await runProgram('node', ['--version'], { env: { PATH } })).stdout).toMatch(`v${major}.`);
    expect(await regen('--version')).toEqual({ exit: 0, stdout: `${manifest.version}\n`, stderr: '' });
    cpSync(join(own, 'examples', 'hello-nodes'), join(home, 'hello-nodes'), { recursive: true });
    const { exit, stdout, stderr } = await regen('version', 'publish', 'hello-nodes', '--json');
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' });
    expect(JSON.parse(stdout)).toMatchObject({
      node_id: 'hello-nodes',
      status: 'NodeVersionStatusActive',
      host_node_extract_status: 'success',
    });
  },
);

test('the installed program backs up, copies, serves, checks and restores data on disk, in PostgreSQL and in S3', async (context) => {
  needsInstall(context);
  const places = await openSharedPlaces();
  if (typeof places === 'string') return context.skip(places);
  onTestFinished(places.remove);
  const PATH = [join(prefix, 'bin'), process.env.PATH].join(delimiter);
  await moveStore(places, (argv, home, env) =>
    runProgram('regen', argv, { cwd: home, env: { ...env, PATH, HOME: home } }),
  );
});

/** Where `node` of a major version lies: the one that runs this, or the one that npm brought. */
function findNodeFolder(major: number, context: TestContext): string {
  if (!brought.includes(major)) return dirname(process.execPath);
  const { exit, stderr } = nodes[brought.indexOf(major)] as Ran;
  context.skip(exit !== 0, `npm does not bring Node ${major}: ${stderr.trim()}`);
  return join(folderOfNode(major), 'node_modules', binaries, 'bin');
}

test('the program of the guide runs in a project that depends on the tarball', async (context) => {
  needsInstall(context);
  expect(inProject).toMatchObject({ exit: 0 });
  cpSync(join(own, 'examples', 'hello-nodes'), join(project, 'hello-nodes'), { recursive: true });
  const picture = { width: 64, height: 64, channels: 3, background: '#a86' } as const;
  await sharp({ create: picture }).png().toFile(join(project, 'portrait.png'));
  writeFileSync(join(project, 'program.js'), stripTypes(readLibraryProgram()));
  const end = await runProgram(process.execPath, ['program.js'], { cwd: project });
  expect(end).toMatchObject({ exit: 0, stdout: `NodeVersionStatusActive ${join(project, 'relit.png')}\n` });
  // What `onStatus` was told.
  expect(end.stderr).toMatch(/^(CREATED\n|IN_PROGRESS\n)*COMPLETED\n$/);
});

test.for([
  ['nodenext', 'nodenext'],
  ['bundler', 'preserve'],
] as const)(
  'its types are found there, and are strict, where modules are resolved as by %s',
  async ([moduleResolution, module], context) => {
    needsInstall(context);
    const rest = `
import type { Publisher, RelightRequest } from 'regen-cli';
const { name }: Publisher = await client.publisher.get({ publisherId: 'my-team' });
const job: RelightRequest = { image: 'https://example.com/portrait.jpg', style: 'clean' };
// @ts-expect-error: not a style
await client.image.relight({ body: { ...job, style: 'clear' } });
export const isMissing = (error: unknown) => error instanceof ServiceError && error.code === 'not_found';
// @ts-expect-error: not a name
await client.publisher.create({ body: { id: 'my-team', name: 5 } });
// @ts-expect-error: not a port
await startService({ port: 'any' });
`;
    const resolution = {
      moduleResolution,
      module,
      typeRoots: [resolve('node_modules/@types')],
    };
    const compilerOptions = {
      ...resolution,
      target: 'es2023',
      strict: true,
      noEmit: true,
      skipLibCheck: false,
    };
    writeFileSync(join(project, 'program.ts'), readLibraryProgram() + rest);
    writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['program.ts'] }));
    const compiler = resolve('node_modules/typescript/bin/tsc');
    const end = await runProgram(process.execPath, [compiler], { cwd: project });
    expect(end).toEqual({ exit: 0, stdout: '', stderr: '' });
  },
);
