import { createHash } from 'node:crypto';
import { Readable, Writable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { type Client, createClient, ServiceError } from '../../src/library/index.js';
import type { RunningService } from '../../src/service/serve.js';
import { createZip } from '../support/create-zip.js';
import { film } from '../support/filming-engine.js';
import { pixel } from '../support/generation.js';
import { isSigned } from '../support/receiver.js';
import { findDisorder } from './webhook-order.js';
import { createWorld, DARK, type World } from './world.js';

/** What was acknowledged, which must be true in the end. */
interface Acknowledged {
  readonly versions: Map<string, Buffer>;
  readonly tasks: Map<string, { kind: 'image' | 'video'; fails: boolean }>;
}

const MAX_ATTEMPTS = 200;

/**
 * Runs a client against the world of a seed, then compares what is left with what was acknowledged.
 * @param spoil changes the data before they are compared
 * @returns what happened, in one line
 * @throws Error with all violations
 */
export async function runSeed(
  seed: number,
  spoil: (service: RunningService) => Promise<unknown> = async () => {},
): Promise<string> {
  const world = await createWorld(seed);
  const { ownerToken } = await world.service();
  const sleep = () => pause(2);
  const client = createClient({ baseUrl: world.url, token: ownerToken, sleep });
  try {
    const known: Acknowledged = { versions: new Map(), tasks: new Map() };
    const publisher = { id: 'acme', name: 'Acme' };
    await repeatUntilAnswered(world, () =>
      client.publisher.create({ body: publisher }, { idempotencyKey: 'publisher' }),
    );
    const personal = await repeatUntilAnswered(world, () =>
      client.publisher.token.create({ publisherId: 'acme', body: { name: 'ci' } }),
    );
    for (let number = 1; number <= 6; number += 1) {
      const drawn = world.faults.draw('action');
      if (drawn < 0.4) await publishVersion(world, client, known, { number, token: personal.token });
      else await startTask(world, client, known, { number, kind: drawn < 0.75 ? 'image' : 'video' });
      if (world.faults.happens('clock jump', 0.3)) world.jump(world.faults.draw('jump') * 240_000 - 60_000);
    }
    const service = await world.settle();
    await spoil(service);
    const violations = await findViolations(world, service, client, known);
    if (violations.length > 0) throw new Error(violations.join('\n'));
    const faults = [...world.faults.counts].map(([what, count]) => `${count} × ${what}`).join(', ');
    return `${known.versions.size} versions, ${known.tasks.size} tasks, ${world.received.length} webhooks; ${faults || 'no faults'}`;
  } finally {
    await client.close();
    await world.close();
  }
}

/** Repeats a request until it is answered, as a person would who runs the same command again. */
async function repeatUntilAnswered<Result>(world: World, work: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      const mayPass =
        !(error instanceof ServiceError) || error.status >= 500 || error.code === 'idempotency_in_flight';
      if (!mayPass || attempt === MAX_ATTEMPTS) throw error;
      await world.service();
      await pause(5);
    }
  }
}

interface Publishing {
  readonly number: number;
  readonly token: string;
}

async function publishVersion(
  world: World,
  client: Client,
  known: Acknowledged,
  { number, token }: Publishing,
) {
  const version = `1.${number}.0`;
  const archive = await createZip({ '__init__.py': `VERSION = ${number}\nNODE_CLASS_MAPPINGS = {}\n` });
  const request = {
    publisherId: 'acme',
    nodeId: 'pack',
    body: { node: { name: 'Pack' }, node_version: { version }, personal_access_token: token },
  };
  const { signedUrl } = await repeatUntilAnswered(world, () =>
    client.version.publish(request, { idempotencyKey: `version-${number}` }),
  );
  const size = archive.length;
  await repeatUntilAnswered(world, () =>
    client.upload(signedUrl, { openStream: () => Readable.from([archive]), size }),
  );
  known.versions.set(version, archive);
}

interface Starting {
  readonly number: number;
  readonly kind: 'image' | 'video';
}

async function startTask(world: World, client: Client, known: Acknowledged, { number, kind }: Starting) {
  const fails = world.faults.draw('dark') < 0.25;
  const prompt = fails ? DARK : 'A boat';
  const options = { idempotencyKey: `task-${number}` };
  const start = async (): Promise<string> => {
    if (kind === 'image') {
      const image = { image: pixel, prompt, webhook_url: world.hook };
      return (await client.image.relight({ body: image }, options)).data.task_id;
    }
    return (await client.video.text2video({ body: { prompt, callback_url: world.hook } }, options)).task_id;
  };
  const id = await repeatUntilAnswered(world, start);
  known.tasks.set(id, { kind, fails });
}

async function findViolations(
  world: World,
  service: RunningService,
  client: Client,
  known: Acknowledged,
): Promise<string[]> {
  const wrong: string[] = [];
  const expect = (what: string, found: unknown, wanted: unknown) => {
    const [left, right] = [found, wanted].map((value) => JSON.stringify(value));
    if (left !== right) wrong.push(`${what}: ${left}, not ${right}`);
  };
  for (const [version, archive] of known.versions) {
    const { status, downloadUrl, archive_sha256 } = await client.version.get({ nodeId: 'pack', version });
    expect(`${version}`, status, 'NodeVersionStatusActive');
    expect(`digest of ${version}`, archive_sha256, createHash('sha256').update(archive).digest('hex'));
    expect(
      `archive of ${version}`,
      (await downloadBytes(client, downloadUrl as string)).equals(archive),
      true,
    );
  }
  const ids = [...known.tasks.keys()].sort();
  const listed = await service.context.database.selectFrom('tasks').select('id').orderBy('id').execute();
  expect(
    'tasks',
    listed.map(({ id }) => id),
    ids,
  );
  const vendors = await world.vendor.context.database.selectFrom('tasks').select('id').execute();
  expect('tasks of the vendor', vendors.length, ids.length);
  const secret = (await client.webhook.secret()).secret;
  for (const received of world.received) expect('signature', isSigned(received, secret), true);
  for (const [id, { kind, fails }] of known.tasks) {
    const { status, files } = await readTask(client, kind, id);
    const end = kind === 'image' ? ['COMPLETED', 'FAILED'] : ['success', 'failed'];
    expect(`${kind} ${id}`, status, end[fails ? 1 : 0]);
    const charges = await service.context.database
      .selectFrom('credits')
      .select('kind')
      .where('task_id', '=', id)
      .orderBy('kind')
      .execute();
    expect(
      `credits of ${id}`,
      charges.map((row) => row.kind),
      fails ? ['charge', 'refund'] : ['charge'],
    );
    const results = [kind === 'image' ? Buffer.from(pixel, 'base64') : film];
    expect(`results of ${id}`, files.length, fails ? 0 : results.length);
    for (const [at, url] of files.entries()) {
      expect(`result ${at} of ${id}`, (await downloadBytes(client, url)).equals(results[at] as Buffer), true);
    }
    const disorder = findDisorder(world.received, { id, kind, status: String(status) });
    if (disorder) wrong.push(disorder);
  }
  return wrong;
}

async function readTask(client: Client, kind: 'image' | 'video', id: string) {
  if (kind === 'image') {
    const { data } = await client.image.relightStatus({ task_id: id });
    const { status, generated } = data;
    return { status, files: generated };
  }
  const { state, creations } = await client.video.creations({ task_id: id });
  return { status: state, files: creations.map(({ url }) => url as string) };
}

async function downloadBytes(client: Client, url: string): Promise<Buffer> {
  const parts: Buffer[] = [];
  const to = new Writable({
    write: (part, _, done) => {
      parts.push(part);
      done();
    },
  });
  await client.download(url, { to });
  return Buffer.concat(parts);
}
