import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import fc from 'fast-check';
import { type Client, createClient, ServiceError } from '../../src/library/index.js';
import { createZip } from '../support/create-zip.js';
import { loops, programs } from './python.js';
import { mutateBytes, type Target } from './target.js';

/** What a service that reads strangers' packs may take. */
const MAX_MEMORY_BYTES = 400 * 1024 ** 2;
/** Hostile packs that wait for their checks at the same time. */
const MAX_WAITING = 30;
/** They publish the hostile ones, in turns with each other. */
const STRANGERS = ['evil-a', 'evil-b', 'evil-c', 'evil-d', 'evil-e'];
/** An honest pack is published after so many hostile ones. */
const HONEST_EVERY = 25;

interface Pack {
  readonly files: Readonly<Record<string, string>>;
  /** Which bytes of the archive change; absent: none. */
  readonly spoiled: number | null;
}

const repeated = fc
  .tuple(
    fc.constantFrom(
      '[',
      '(',
      '{',
      '-',
      'not ',
      'a.',
      'a[',
      'lambda: ',
      '"',
      "f'{",
      'if 1:\n ',
      'x = ',
      '\\\n',
    ),
    fc.nat(50_000),
  )
  .map(([text, count]) => `${text.repeat(count)}\nNODE_CLASS_MAPPINGS = {}\n`);
const sources = fc.oneof(
  { weight: 4, arbitrary: loops },
  { weight: 2, arbitrary: programs },
  { weight: 1, arbitrary: repeated },
);
const packs: fc.Arbitrary<Pack> = fc.record({
  files: fc.tuple(sources, fc.option(sources), fc.nat(400)).map(([first, second, more]) => ({
    '__init__.py': first,
    ...(second !== null && { 'other.py': second }),
    ...Object.fromEntries(
      Array.from({ length: more }, (_, at) => [`m/${at}.py`, `from .${at + 1} import *\n`]),
    ),
  })),
  spoiled: fc.oneof({ weight: 9, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: fc.nat() }),
});

/** Packs that are made to exhaust the service, and honest ones between them. */
export async function createPacks(): Promise<Target<Pack>> {
  const quotas = { versionsPerDay: 1_000_000 };
  const child = spawn(process.execPath, ['dist/test/service-process.js', JSON.stringify({ quotas })], {
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  const [{ url }] = await once(child, 'message');
  const users = new Map<string, { client: Client; personal: string }>();
  for (const id of [...STRANGERS, 'acme']) {
    child.send({ sub: id, email: `${id}@example.org` });
    const [{ token }] = await once(child, 'message');
    const client = createClient({ baseUrl: url, token });
    await client.publisher.create({ body: { id, name: id } });
    const personal = (await client.publisher.token.create({ publisherId: id, body: { name: 'ci' } })).token;
    users.set(id, { client, personal });
  }
  const getUser = (id: string) => users.get(id) as { client: Client; personal: string };
  let [published, honest, longestMs, mostBytes] = [0, 0, 0, 0];
  const publish = async (publisherId: string, archive: Buffer): Promise<string> => {
    const version = `1.${++published}.0`;
    const { client, personal } = getUser(publisherId);
    const { signedUrl } = await client.version.publish({
      publisherId,
      nodeId: `${publisherId}-pack`,
      body: {
        node: { name: 'Pack' },
        node_version: { version },
        personal_access_token: personal,
      },
    });
    await client.upload(signedUrl, { openStream: () => Readable.from([archive]), size: archive.length });
    return version;
  };
  const verdict = async (publisherId: string, version: string): Promise<string> => {
    for (;;) {
      const { status } = await getUser(publisherId).client.version.get({
        nodeId: `${publisherId}-pack`,
        version,
      });
      if (status !== 'NodeVersionStatusPending') return String(status);
      await pause(100);
    }
  };
  const verdicts = new Map<string, number>();
  const waiting = new Set<Promise<unknown>>();
  const wellBehaved = await createZip({ '__init__.py': 'class A: pass\nNODE_CLASS_MAPPINGS = {"A": A}\n' });
  const publishHonest = async () => {
    const begun = performance.now();
    const status = await verdict('acme', await publish('acme', wellBehaved));
    if (status !== 'NodeVersionStatusActive') throw new Error(`An honest pack is ${status}.`);
    honest += 1;
    longestMs = Math.max(longestMs, performance.now() - begun);
  };
  const run = async ({ files, spoiled }: Pack) => {
    const sound = await createZip(files);
    const [changed = sound] =
      spoiled === null ? [] : fc.sample(mutateBytes(fc.constant(sound)), { seed: spoiled, numRuns: 1 });
    const outsider = STRANGERS[published % STRANGERS.length] as string;
    const version = await publish(outsider, changed).catch((error) => {
      // An archive that lost all its bytes is refused at once.
      if (error instanceof ServiceError && error.status === 400) return undefined;
      throw error;
    });
    if (version === undefined) return;
    const checked = verdict(outsider, version).then((status) => {
      verdicts.set(status, (verdicts.get(status) ?? 0) + 1);
      waiting.delete(checked);
    });
    waiting.add(checked);
    if (published % HONEST_EVERY === 0) await publishHonest();
    while (waiting.size >= MAX_WAITING) await Promise.race(waiting);
    const bytes = readPeak(child.pid as number);
    mostBytes = Math.max(mostBytes, bytes);
    if (bytes > MAX_MEMORY_BYTES) throw new Error(`The service takes ${bytes} bytes of memory.`);
  };
  const summary = () =>
    [
      `verdicts: ${[...verdicts].map((pair) => pair.join(': ')).join(', ')}`,
      `${honest} honest packs waited at most ${(longestMs / 1000).toFixed(1)} s`,
      `the service took at most ${Math.round(mostBytes / 1e6)} MB`,
    ].join('; ');
  const close = async () => {
    await Promise.allSettled(waiting);
    for (const { client } of users.values()) await client.close();
    child.kill();
    await once(child, 'exit');
  };
  return { cases: packs, run, summary, close };
}

/** The most memory that a process had, as Linux tells; `maxRSS` of getrusage begins with that of the parent. */
function readPeak(pid: number): number {
  if (process.platform !== 'linux') return 0;
  return 1024 * Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1]);
}
