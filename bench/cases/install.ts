import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createClient } from '../../src/library/client.js';
import { type Case, measureCommand, type Prepared } from '../measure.js';
import { isolate, REGEN, runRegen, startBuiltService, startProgram } from '../peers.js';

const PACKS = 50;

/** Pictures do not get smaller. */
const NOISE = createNoise(2_000_000);

function createNoise(bytes: number): Buffer {
  const next = createRandom(1);
  const noise = Buffer.alloc(bytes);
  for (let at = 0; at < bytes; at++) noise[at] = 256 * next();
  return noise;
}

/** Writes a pack as they commonly are: 40 files of code, 15 of the web part, and a few pictures; 4 MB. */
function writePack(folder: string, index: number): void {
  const next = createRandom(index + 1);
  const word = () => `name_${Math.floor(next() * 900)}`;
  const line = () => `        self.${word()} = ${word()}(${word()}, ${word()}, key="${word()}")\n`;
  const write = (path: string, content: string | Buffer) => {
    mkdirSync(join(folder, path, '..'), { recursive: true });
    writeFileSync(join(folder, path), content);
  };
  write(
    'pyproject.toml',
    `[project]\nname = "pack-${index}"\nversion = "1.0.0"\n\n[tool.comfy]\nPublisherId = "bench"\n`,
  );
  write('__init__.py', `class One:\n    pass\n\nNODE_CLASS_MAPPINGS = {"Bench ${index}": One}\n`);
  for (let file = 0; file < 40; file++)
    write(
      `lib/part_${file % 6}/module_${file}.py`,
      `class A:\n    def f(self):\n${Array.from({ length: 400 }, line).join('')}`,
    );
  for (let file = 0; file < 15; file++)
    write(
      `web/js/file_${file}.js`,
      Array.from({ length: 300 }, () => `export const ${word()} = "${word()}";\n`).join(''),
    );
  for (let file = 0; file < 6; file++)
    write(`web/picture_${file}.png`, NOISE.subarray(index * 1000 + file * 250_000).subarray(0, 250_000));
}

/** Numbers from above 0 to 1, the same for the same seed. */
function createRandom(seed: number): () => number {
  let state = seed * 7919;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return (state + 1) / 2 ** 32;
  };
}

const installing: Case = {
  name: `install ${PACKS} packs, warm service`,
  peer: '`unzip` of the same archives, two at once',
  bars: { wallMs: 1.5 },
  rounds: 5,
  async prepare(scratch): Promise<Prepared | { readonly missing: string }> {
    try {
      measureCommand(['unzip', '-v']);
    } catch {
      return { missing: 'unzip is not installed' };
    }
    const service = await startBuiltService(join(scratch, 'data'));
    const client = createClient({ baseUrl: service.url, token: service.token });
    await client.publisher.create({ body: { id: 'bench', name: 'Bench' } });
    const { token } = await client.publisher.token.create({ publisherId: 'bench', body: { name: 'bench' } });
    const env = {
      ...isolate(scratch),
      REGEN_BASE_URL: service.url,
      REGEN_TOKEN: service.token,
      REGEN_PUBLISH_TOKEN: token,
    };
    const folders = Array.from({ length: PACKS }, (_, index) => join(scratch, 'packs', `pack-${index}`));
    for (const [index, folder] of folders.entries()) writePack(folder, index);
    runRegen(['version', 'publish', ...folders, '-q'], env);
    const archives = join(scratch, 'archives');
    mkdirSync(archives);
    for (let index = 0; index < PACKS; index++)
      runRegen(['version', 'download', `pack-${index}`, '-q', '-o', join(archives, `${index}.zip`)], env);
    const target = join(scratch, 'custom_nodes');
    const lock = join(scratch, 'regen.lock');
    const ids = Array.from({ length: PACKS }, (_, index) => `pack-${index}`);
    const install = [...REGEN, 'node', 'install', ...ids, '--into', target, '--lock-file', lock, '-q'];
    const clear = () => {
      rmSync(target, { recursive: true, force: true });
      rmSync(lock, { force: true });
      mkdirSync(target);
      measureCommand(['sync']);
    };
    const unzip = `cd ${archives} && ls *.zip | xargs -P 2 -I{} unzip -q -d ${target}/{} {}`;
    return {
      runSubject() {
        clear();
        const sample = measureCommand(install, { env });
        if (readdirSync(target).length !== PACKS + 1) throw new Error('Not all packs were installed.');
        return sample;
      },
      runPeer() {
        clear();
        return measureCommand(['sh', '-c', unzip], { env });
      },
      stop: () => service.stop(),
    };
  },
};

const MEGABYTES = 50;

/** Passes requests on to a service, without its statements if it is silent. */
const PROXY = `const http = require('node:http');
const [target, silent] = process.argv.slice(1);
const missing = '{"error":"not_found","message":"There is no statement."}';
const server = http.createServer((asked, answer) => {
  if (silent && asked.url.endsWith('/statement'))
    return answer.writeHead(404, { 'content-type': 'application/json' }).end(missing);
  const { method, headers } = asked;
  const onward = http.request(target + asked.url, { method, headers }, (reply) => {
    answer.writeHead(reply.statusCode, reply.headers);
    reply.pipe(answer);
  });
  asked.pipe(onward);
});
server.listen(0, '127.0.0.1', () => console.log('http://127.0.0.1:' + server.address().port));`;

const verifying: Case = {
  name: `version download of ${MEGABYTES} MB with its statement verified`,
  peer: 'the same from a registry that signs nothing',
  bars: { wallMs: 1.05 },
  rounds: 15,
  async prepare(scratch): Promise<Prepared> {
    const service = await startBuiltService(join(scratch, 'data'));
    const env = { ...isolate(scratch), REGEN_BASE_URL: service.url, REGEN_TOKEN: service.token };
    const client = createClient({ baseUrl: service.url, token: service.token });
    await client.publisher.create({ body: { id: 'bench', name: 'Bench' } });
    const { token } = await client.publisher.token.create({ publisherId: 'bench', body: { name: 'bench' } });
    const folder = join(scratch, 'pack');
    writePack(folder, 0);
    writeFileSync(join(folder, 'model.dat'), createNoise(MEGABYTES * 1_000_000));
    runRegen(['version', 'publish', folder, '-q'], { ...env, REGEN_PUBLISH_TOKEN: token });
    const signing = await startProgram(['-e', PROXY, service.url]);
    const silent = await startProgram(['-e', PROXY, service.url, 'silent']);
    const archive = join(scratch, 'pack.zip');
    const command = [...REGEN, 'version', 'download', 'pack-0', '-q', '--force', '-o', archive];
    const download = (url: string) => measureCommand(command, { env: { ...env, REGEN_BASE_URL: url } });
    return {
      runSubject: () => download(signing.url),
      runPeer: () => download(silent.url),
      stop: async () => void (await Promise.all([signing, silent, service].map((one) => one.stop()))),
    };
  },
};

export const installCases: readonly Case[] = [installing, verifying];
