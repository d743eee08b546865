import { randomBytes } from 'node:crypto';
import {
  closeSync,
  cpSync,
  createReadStream,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { createClient } from '../../src/library/client.js';
import { inspectArchive } from '../../src/pack/read-archive.js';
import { createCodeReader } from '../../src/python/read-code.js';
import { parseConfiguration } from '../../src/service/configuration/configuration.js';
import { writeLargePack } from '../large-pack.js';
import { type Case, measureCommand, measureWall, type Prepared, readCpuMs } from '../measure.js';
import {
  type BuiltService,
  installPeers,
  isolate,
  PEERS_MISSING,
  REGEN,
  runRegen,
  startBuiltService,
  startProgram,
  startVerdaccio,
} from '../peers.js';

const EXAMPLE = 'examples/hello-nodes';

/** Copies the example, and returns what gives it its next version. */
function copyExample(folder: string): () => void {
  cpSync(EXAMPLE, folder, { recursive: true });
  const manifest = readFileSync(join(folder, 'pyproject.toml'), 'utf8');
  let round = 0;
  return () => {
    const version = `1.0.${++round}`;
    writeFileSync(join(folder, 'pyproject.toml'), manifest.replace('1.0.0', version));
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'hello-nodes', version }));
  };
}

/** Both publish the same five files to a warm service on loopback. */
function comparePublish(name: string, bar: number, flags: readonly string[]): Case {
  return {
    name,
    peer: '`npm publish` to verdaccio',
    bars: { cpuMs: bar },
    rounds: 7,
    async prepare(scratch) {
      const peers = installPeers();
      if (!peers) return PEERS_MISSING;
      const env = isolate(scratch);
      const folders = ['ours', 'theirs'].map((side) => join(scratch, side)) as [string, string];
      const [stepOurs, stepTheirs] = folders.map(copyExample) as [() => void, () => void];
      runRegen(['version', 'publish', folders[0], '-q'], env);
      const verdaccio = await startVerdaccio(peers, scratch);
      // The registry lets anyone publish, but npm wants a token.
      writeFileSync(join(scratch, '.npmrc'), `${verdaccio.url.slice('http:'.length)}/:_authToken=none\n`);
      const npm = [
        'npm',
        'publish',
        '--registry',
        verdaccio.url,
        '--fetch-retries=0',
        '--no-update-notifier',
      ];
      return {
        runSubject() {
          stepOurs();
          rmSync(join(folders[0], 'package.json'));
          return measureCommand([...REGEN, 'version', 'publish', folders[0], ...flags], { env });
        },
        runPeer() {
          stepTheirs();
          return measureCommand(npm, { env, cwd: folders[1] });
        },
        async stop() {
          runRegen(['serve', 'stop'], env);
          await verdaccio.stop();
        },
      };
    },
  };
}

const packing: Case = {
  name: 'pack 1 GB in 31,600 files',
  peer: '`zip -r -6`; a budget of 150 MiB for memory',
  bars: { wallMs: 0.6, bytes: 1.02, memory: 1 },
  rounds: 2,
  slow: true,
  async prepare(scratch): Promise<Prepared | { readonly missing: string }> {
    try {
      measureCommand(['zip', '-v']);
    } catch {
      return { missing: 'zip is not installed' };
    }
    const tree = join(scratch, 'tree');
    await writeLargePack(tree);
    const env = { ...process.env, HOME: scratch };
    const ours = join(scratch, 'ours.zip');
    const theirs = join(scratch, 'theirs.zip');
    const report = join(scratch, 'memory');
    const watched = {
      ...env,
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(`import { writeFileSync } from 'node:fs';
      process.on('exit', () => writeFileSync(${JSON.stringify(report)}, String(process.resourceUsage().maxRSS)));`)}`,
    };
    const pack = [...REGEN, 'version', 'pack', tree, '-o', ours, '--allow-secrets', '-q'];
    return {
      runSubject() {
        rmSync(ours, { force: true });
        const sample = measureCommand(pack, { env: watched });
        return { ...sample, bytes: statSync(ours).size, memory: Number(readFileSync(report, 'utf8')) * 1024 };
      },
      runPeer() {
        rmSync(theirs, { force: true });
        const sample = measureCommand(['zip', '-q', '-r', '-6', theirs, '.'], { cwd: tree });
        return { ...sample, bytes: statSync(theirs).size, memory: 150 * 2 ** 20 };
      },
    };
  },
};

/** A publisher, and what registers the next version of its node. */
async function createPublisher({ url, token }: BuiltService) {
  const client = createClient({ baseUrl: url, token });
  await client.publisher.create({ body: { id: 'bench', name: 'Bench' } });
  const made = await client.publisher.token.create({ publisherId: 'bench', body: { name: 'bench' } });
  let round = 0;
  const register = async () => {
    const version = `1.0.${++round}`;
    const body = {
      node: { id: 'pack', name: 'Pack' },
      node_version: { version },
      personal_access_token: made.token,
    };
    const { signedUrl } = await client.version.publish({ publisherId: 'bench', nodeId: 'pack', body });
    return { version, signedUrl };
  };
  return { client, register };
}

/** Writes, hashes and syncs what it is sent, and nothing else. */
const SINK = `const { createHash } = require('node:crypto');
  const { createWriteStream, rmSync } = require('node:fs');
  const { pipeline } = require('node:stream/promises');
  const file = process.argv[1];
  require('node:http').createServer(async (request, response) => {
    const hash = createHash('sha256');
    const hashing = async function* (source) { for await (const part of source) { hash.update(part); yield part; } };
    await pipeline(request, hashing, createWriteStream(file, { flush: true }));
    response.end(hash.digest('hex'));
  }).listen(0, '127.0.0.1', function () { console.log('http://127.0.0.1:' + this.address().port); });`;

const UPLOAD_BYTES = 2_000_000_000;

/** The archive is none, so that the check after the upload ends at once. */
const uploading: Case = {
  name: 'upload 2 GB',
  peer: 'a server that writes, hashes and syncs',
  bars: { wallMs: 1.15 },
  rounds: 3,
  slow: true,
  async prepare(scratch) {
    const file = join(scratch, 'upload');
    writeRandom(file, UPLOAD_BYTES);
    const service = await startBuiltService(join(scratch, 'data'));
    const { client, register } = await createPublisher(service);
    const sink = await startProgram(['-e', SINK, join(scratch, 'sunk')]);
    const upload = (url: string) =>
      measureWall(() => client.upload(url, { openStream: () => createReadStream(file), size: UPLOAD_BYTES }));
    return {
      async runSubject() {
        measureCommand(['sync']);
        return upload((await register()).signedUrl);
      },
      async runPeer() {
        rmSync(join(scratch, 'sunk'), { force: true });
        measureCommand(['sync']);
        return upload(`${sink.url}/`);
      },
      async stop() {
        await service.stop();
        await sink.stop();
      },
    };
  },
};

/** Bytes that cannot be compressed, the same ones again and again. */
function writeRandom(file: string, bytes: number): void {
  const block = randomBytes(2 ** 24);
  const handle = openSync(file, 'w');
  for (let at = 0; at < bytes; at += block.length)
    writeSync(handle, block, 0, Math.min(block.length, bytes - at));
  closeSync(handle);
}

const PUBLISHES = 20;
const WARM_UP = 60;

/** From the registration to the verdict, beside what must be done at the least. */
const checking: Case = {
  name: `${PUBLISHES} small publishes from registration to verdict, CPU of the service`,
  peer: 'reading the same archives with a warm parser',
  bars: { cpuMs: 3 },
  rounds: 5,
  async prepare(scratch) {
    const archive = join(scratch, 'pack.zip');
    runRegen(['version', 'pack', EXAMPLE, '-o', archive, '-q'], isolate(scratch));
    const size = statSync(archive).size;
    const service = await startBuiltService(join(scratch, 'data'));
    const { client, register } = await createPublisher(service);
    const publishOne = async () => {
      const { version, signedUrl } = await register();
      await client.upload(signedUrl, { openStream: () => createReadStream(archive), size });
      for (let status: string | undefined; status !== 'NodeVersionStatusActive'; ) {
        await setTimeout(20);
        ({ status } = await client.version.get({ nodeId: 'pack', version }));
      }
    };
    const { limits } = await parseConfiguration({}, {});
    const readOne = async () => {
      const reader = await createCodeReader({ follow: true, unread: {} });
      await inspectArchive(archive, limits, reader);
      reader.finish();
    };
    for (let count = 0; count < WARM_UP; count++) await readOne();
    return {
      async runSubject() {
        const before = readCpuMs(service.pid);
        for (let count = 0; count < PUBLISHES; count++) await publishOne();
        return { cpuMs: readCpuMs(service.pid) - before };
      },
      async runPeer() {
        const before = process.cpuUsage();
        for (let count = 0; count < PUBLISHES; count++) await readOne();
        const { user, system } = process.cpuUsage(before);
        return { cpuMs: (user + system) / 1000 };
      },
      stop: () => service.stop(),
    };
  },
};

export const publishCases: readonly Case[] = [
  comparePublish('publish of 5 files until uploaded', 0.5, ['--no-wait']),
  comparePublish('publish of 5 files until the verdict', 0.6, []),
  checking,
  packing,
  uploading,
];
