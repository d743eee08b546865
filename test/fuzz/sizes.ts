import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { contract } from '../../src/contract/index.js';
import { listOperations, type Operation } from '../../src/contract/operation.js';
import { refreshNodes } from '../../src/service/registry/listed-host-nodes.js';
import { databaseForFolder } from '../support/postgres.js';
import { startRegistry } from '../support/registry.js';
import { createValues, document, type Special } from './schema-values.js';
import type { Target } from './target.js';

const MB = 1024 ** 2;
/** What an answer may have: so many bytes for each byte of the request, and about 8 MB of what users wrote. */
const BYTES_PER_BYTE = 8;
const MAX_BYTES = 9 * MB;
/** What a service may take while 40 clients ask for its largest answers, and most of them read nothing. */
const MAX_MEMORY_BYTES = 500 * MB;
const AT_ONCE = 40;

interface Asked {
  readonly line: string;
  readonly body: string;
  readonly isRead: boolean;
}

const NODES = 100;
const known: Readonly<Record<string, readonly string[]>> = {
  publisherId: ['acme'],
  nodeId: ['many', 'node-0', `node-${NODES - 1}`],
  version: ['1.0.0', '1.0.99'],
  hostNodeName: ['Large', 'Small'],
};

/** Limits are asked for at their most, and pairs a thousand times. */
const chooseSpecial: Special = (field, schema) => {
  if (schema.type === 'integer' && schema.maximum)
    return fc.constantFrom(schema.maximum, 1, schema.maximum / 4);
  if (field === 'page') return fc.constantFrom(1, 2);
  if (field === 'node_version') return fc.constantFrom('1.0.0', '1.0.99');
  if (field !== 'node_versions') return undefined;
  const pair = fc.tuple(fc.nat(NODES), fc.nat(99)).map(([node, version]) => {
    return node === NODES
      ? { node_id: 'many', version: `1.0.${version}` }
      : { node_id: `node-${node}`, version: '1.0.0' };
  });
  const pairs = fc.array(pair, { minLength: 1, maxLength: 1000, size: 'max' });
  return fc.oneof(
    pair.map((one) => Array(1000).fill(one)),
    pairs,
  );
};

function createRequests([, { method, path }]: [string, Operation]): fc.Arbitrary<Asked> {
  const described = document.paths[path][method.toLowerCase()];
  const schema = described.requestBody?.content['application/json'].schema;
  const parameters: { in: string; name: string; schema: object }[] = described.parameters ?? [];
  const query = parameters
    .filter((one) => one.in === 'query')
    .map(({ name, schema: type }) => {
      const value = createValues(type, chooseSpecial, name).map((one): [string, unknown] => [name, one]);
      // Most filters find nothing.
      const [given, absent] = /page|limit/i.test(name) ? [9, 1] : [1, 9];
      return fc.oneof({ weight: given, arbitrary: value }, { weight: absent, arbitrary: fc.constant(null) });
    });
  return fc.record({
    line: fc.tuple(fc.tuple(...query), fc.nat(8)).map(([given, pick]) => {
      const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => {
        const values = known[name] ?? ['x'];
        return values[pick % values.length] as string;
      });
      const entries = given.flatMap((one) => (one ? [[one[0], String(one[1])] as [string, string]] : []));
      return `${method} ${filled}?${new URLSearchParams(entries)}`;
    }),
    body: schema
      ? createValues(schema, chooseSpecial).map((value) => JSON.stringify(value))
      : fc.constant(''),
    isRead: fc.boolean(),
  });
}

/** All operations that need no credential, and the documents beside them. */
const requests = fc.oneof(
  ...Array.from(listOperations(contract))
    .filter(([, { who }]) => who === 'anyone')
    .map(createRequests),
  fc
    .constantFrom('/openapi.json', '/nope', '/health')
    .map((path) => ({ line: `GET ${path}`, body: '', isRead: false })),
);

/** Writes the longest texts that publishers may write. */
async function fillRegistry(data: string): Promise<void> {
  const registry = await startRegistry({ data, quotas: { versionsPerDay: 10_000 } });
  const long = 'x'.repeat(100_000);
  await registry.ok('ann', 'PUT', '/publishers/acme', { description: long });
  const tags = Array.from({ length: 100 }, (_, at) => `${at}${'t'.repeat(990)}`);
  const versions = [
    ...Array.from({ length: NODES }, (_, at) => [`node-${at}`, '1.0.0'] as const),
    ...Array.from({ length: NODES }, (_, at) => ['many', `1.0.${at}`] as const),
  ];
  for (const [nodeId, version] of versions) {
    const { node_version } = await registry.publish(nodeId, version, {
      node: { tags },
      node_version: { changelog: long },
    });
    await registry.change(async (tx) => {
      const row = (name: string, size: number) => ({
        ...{ version_id: node_version.id, node_id: nodeId, name, policy: 'HostNodePolicyActive' },
        definition: JSON.stringify({ input_types: JSON.stringify({ required: { a: ['x'.repeat(size)] } }) }),
      });
      await tx
        .insertInto('host_nodes')
        .values([row('Large', nodeId === 'many' ? 30_000 : 400_000), row('Small', 1_000)])
        .execute();
      await tx.updateTable('versions').set({ status: 'NodeVersionStatusActive' }).execute();
      await tx
        .updateTable('nodes')
        .set({ latest_version_id: node_version.id })
        .where('id', '=', nodeId)
        .execute();
    });
  }
  await registry.change((tx) => refreshNodes(tx, 'acme'));
  await registry.service.stop();
}

/** Requests without a credential for the largest answers, 40 at the same time, of which half are not read. */
export async function createSizes(): Promise<Target<Asked[]>> {
  const data = mkdtempSync(join(tmpdir(), 'regen-fuzz-'));
  await fillRegistry(data);
  const configuration = { data, ...(await databaseForFolder(data)) };
  const child = spawn(process.execPath, ['dist/test/service-process.js', JSON.stringify(configuration)], {
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  const [{ url }] = await once(child, 'message');
  let [answers, largest, most, slowestMs] = [0, 0, 0, 0];
  let shown = '';

  const run = async (asked: Asked[]) => {
    const opened = asked.map((one) => sendRequest(url, one));
    const waiting = new AbortController();
    const watching = watchHealth(url, waiting.signal, (ms) => {
      slowestMs = Math.max(slowestMs, ms);
    });
    await Promise.all(opened.map(({ ended }) => ended));
    waiting.abort();
    await watching;
    child.send('memory');
    const [{ maxRss }] = await once(child, 'message');
    for (const { socket } of opened) socket.destroy();
    most = Math.max(most, maxRss);
    for (const { socket, bytes, line } of opened) {
      answers += 1;
      if (socket.bytesRead > largest) [largest, shown] = [socket.bytesRead, line];
      if (socket.bytesRead > BYTES_PER_BYTE * bytes + MAX_BYTES)
        throw new Error(`${line}: ${bytes} bytes were answered with ${socket.bytesRead}.`);
    }
    if (maxRss > MAX_MEMORY_BYTES) throw new Error(`The service took ${maxRss} bytes of memory.`);
  };
  const summary = () =>
    `${answers} answers, the largest of ${largest} bytes (${shown}), ${Math.round(most / MB)} MB of memory, /health within ${Math.round(slowestMs)} ms`;
  const close = async () => {
    child.kill();
    await once(child, 'exit');
    rmSync(data, { recursive: true });
  };
  const cases = fc.array(requests, { minLength: 1, maxLength: AT_ONCE, size: 'max' });
  return { cases, run, summary, close };
}

interface Sent {
  readonly socket: Socket;
  readonly line: string;
  /** Of the request. */
  readonly bytes: number;
  /** Once it is answered, or the answer has begun that is not read further. */
  readonly ended: Promise<unknown>;
}

function sendRequest(url: string, { line, body, isRead }: Asked): Sent {
  const { hostname, port, host } = new URL(url);
  const socket = connect(Number(port), hostname);
  const length = ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`];
  const head = [`${line} HTTP/1.1`, `Host: ${host}`, 'Connection: close', ...(body ? length : [])];
  const request = [...head, '', body].join('\r\n');
  socket.write(request);
  const ended = new Promise((resolve) => {
    socket.on('error', resolve).once('close', resolve);
    socket.on('data', () => {
      if (isRead) return;
      socket.pause();
      resolve(undefined);
    });
  });
  return { socket, line, bytes: Buffer.byteLength(request), ended };
}

async function watchHealth(url: string, signal: AbortSignal, tell: (ms: number) => void): Promise<void> {
  while (!signal.aborted) {
    const begun = performance.now();
    const { status } = await fetch(`${url}/health`);
    if (status !== 200) throw new Error(`/health answered with ${status}.`);
    tell(performance.now() - begun);
  }
}
