import { Agent, request as sendRequest } from 'node:http';
import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import fc from 'fast-check';
import { createClient } from '../../src/library/index.js';
import type { Database } from '../../src/service/database/database.js';
import { startService } from '../../src/service/serve.js';
import { createCopyingEngine } from '../support/copying-engine.js';
import { createZip } from '../support/create-zip.js';
import { pixel, startPaths } from '../support/generation.js';
import { listenOn } from '../support/listen.js';
import type { Target } from './target.js';

const BYTES_PER_DAY = 100_000;
const TASKS_IN_FLIGHT = 3;

/** What a user does with requests that stay open. */
type Step =
  | { readonly does: 'announce'; readonly bytes: number }
  | { readonly does: 'repeat' | 'drip' | 'finish' | 'abort'; readonly which: number }
  | { readonly does: 'prepare' }
  | { readonly does: 'give' | 'leave' | 'generate'; readonly which: number }
  | { readonly does: 'honest' };

const which = fc.nat(20);
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({ does: fc.constant('announce'), bytes: fc.integer({ min: 1, max: 60_000 }) }),
    },
    {
      weight: 5,
      arbitrary: fc.record({ does: fc.constantFrom('repeat', 'drip', 'finish', 'abort'), which }),
    },
    { weight: 4, arbitrary: fc.record({ does: fc.constant('prepare') }) },
    { weight: 4, arbitrary: fc.record({ does: fc.constantFrom('give', 'leave', 'generate'), which }) },
    { weight: 1, arbitrary: fc.record({ does: fc.constant('honest') }) },
  ) as fc.Arbitrary<Step>,
  { minLength: 5, maxLength: 30 },
);

/** A request that its sender holds open. */
interface OpenRequest {
  readonly bytes: number;
  sent: number;
  readonly url: string;
  status: number | undefined;
  send(bytes: Buffer): void;
  abort(): void;
  /** Answered, or aborted. */
  readonly ended: Promise<void>;
}

/** A refusal is answered before the body has ended, unless the connection is to close. */
const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });

function openRequest(method: string, url: string, headers: Record<string, string | number>): OpenRequest {
  const sending = sendRequest(url, { method, headers, agent });
  let end = () => {};
  const one: OpenRequest = {
    bytes: Number(headers['content-length']),
    sent: 0,
    url,
    status: undefined,
    send: (bytes) => {
      one.sent += bytes.length;
      sending.write(bytes);
    },
    abort: () => void sending.destroy(),
    ended: new Promise((resolve) => {
      end = resolve;
    }),
  };
  sending.on('response', (answer) => {
    one.status = answer.statusCode;
    answer.resume().on('close', end);
  });
  sending.on('error', end).on('close', end);
  sending.flushHeaders();
  return one;
}

/** Users who hold many requests open: what one has begun stays within its quotas at each moment, and another goes on. */
export async function createBegun(): Promise<Target<Step[]>> {
  // Images that are asked for, each held until the case gives it.
  const asked: { give: () => void; readonly gone: () => boolean }[] = [];
  const images = await listenOn((_, answer) => {
    const give = () =>
      answer.writeHead(200, { 'content-type': 'image/png' }).end(Buffer.from(pixel, 'base64'));
    asked.push({ give, gone: () => answer.destroyed });
  });
  const generating: (() => void)[] = [];
  const engine = createCopyingEngine(({ images: given, request }) =>
    // The honest user's are done at once.
    given.image && request.prompt === 'honest'
      ? undefined
      : new Promise<void>((done) => void generating.push(done)),
  );
  const service = await startService(
    {
      quotas: { bytesPerDay: BYTES_PER_DAY, tasksInFlight: TASKS_IN_FLIGHT, versionsPerDay: 1e9 },
      drainMs: 0,
      graceMs: 1_000,
    },
    { log: () => {}, engines: { image: { ...engine, atOnce: 50 } } },
  );
  const { url, context } = service;
  const { database } = context;
  const archive = await createZip({ '__init__.py': 'NODE_CLASS_MAPPINGS = {}\n' });
  let [people, versions, honest, refused, admitted] = [0, 0, 0, 0, 0];

  const createUser = async () => {
    const id = `user-${++people}`;
    const token = await service.signFor({ sub: id, email: `${id}@example.org` });
    const client = createClient({ baseUrl: url, token });
    await client.publisher.create({ body: { id, name: id } });
    const personal = (await client.publisher.token.create({ publisherId: id, body: { name: 'ci' } })).token;
    const register = async () => {
      const { signedUrl } = await client.version.publish({
        publisherId: id,
        nodeId: `${id}-pack`,
        body: {
          node: { name: 'Pack' },
          node_version: { version: `1.${++versions}.0` },
          personal_access_token: personal,
        },
      });
      return signedUrl;
    };
    const { id: userId } = await client.user.me();
    return { id, userId, token, client, register };
  };

  const run = async (all: Step[]) => {
    const [eve, bob] = [await createUser(), await createUser()];
    let uploads: OpenRequest[] = [];
    let tasks: OpenRequest[] = [];
    asked.length = 0;
    generating.length = 0;
    const open = (given: OpenRequest[]) => given.filter(({ status }) => status === undefined);
    const listReserved = (from: Database, owner: string, quota: 'bytesPerDay' | 'tasksInFlight') =>
      from
        .selectFrom('reservations')
        .select('amount')
        .where('owner', '=', owner)
        .where('quota', '=', quota)
        .execute();
    /** Waits until each open request is admitted or answered. */
    const settle = async () => {
      for (;;) {
        const [ofUploads, ofTasks] = [
          await listReserved(database, eve.id, 'bytesPerDay'),
          await listReserved(database, eve.userId, 'tasksInFlight'),
        ];
        if (ofUploads.length === open(uploads).length && ofTasks.length === open(tasks).length) return;
        await pause(2);
      }
    };
    const check = async () => {
      const begun = (await listReserved(database, eve.id, 'bytesPerDay')).reduce(
        (sum, row) => sum + Number(row.amount),
        0,
      );
      const used = await database
        .selectFrom('quota_usage')
        .select('amount')
        .where('publisher_id', '=', eve.id)
        .where('quota', '=', 'bytesPerDay')
        .executeTakeFirst();
      const held = open(uploads).reduce((sum, one) => sum + one.bytes, 0);
      const bytes = held + Number(used?.amount ?? 0);
      if (held !== begun) throw new Error(`${held} bytes are held open, and ${begun} reserved.`);
      if (bytes > BYTES_PER_DAY) throw new Error(`A user has begun uploads of ${bytes} bytes.`);
      // In one moment, because a task may be created from what was prepared.
      const inFlight = await database.transaction().execute(async (tx) => {
        const created = await tx
          .selectFrom('jobs')
          .select('id')
          .where('owner', '=', eve.userId)
          .where('kind', '=', 'run-image-task')
          .execute();
        return created.length + (await listReserved(tx, eve.userId, 'tasksInFlight')).length;
      });
      if (inFlight > TASKS_IN_FLIGHT) throw new Error(`A user has begun ${inFlight} tasks.`);
    };
    const startUpload = (signedUrl: string, bytes: number) => {
      const headers = { 'content-type': 'application/zip', 'content-length': bytes };
      uploads.push(openRequest('PUT', signedUrl, headers));
    };
    const startTask = (image: string) => {
      const body = Buffer.from(JSON.stringify({ image }));
      const headers = {
        authorization: `Bearer ${eve.token}`,
        'content-type': 'application/json',
        'content-length': body.length,
      };
      const one = openRequest('POST', url + startPaths['image.relight'], headers);
      one.send(body);
      tasks.push(one);
    };
    /** Small things of another user, while all of these are open. */
    const beHonest = async () => {
      const signedUrl = await bob.register();
      await bob.client.upload(signedUrl, {
        openStream: () => Readable.from([archive]),
        size: archive.length,
      });
      await bob.client.image.relight({ body: { image: pixel, prompt: 'honest' } });
      honest += 1;
    };
    const pick = (given: OpenRequest[], at: number) => open(given)[at % Math.max(open(given).length, 1)];
    const act = async (step: Step) => {
      if (step.does === 'announce') startUpload(await eve.register(), step.bytes);
      else if (step.does === 'prepare') startTask(`${images.url}/${versions++}.png`);
      else if (step.does === 'honest') await beHonest();
      else if (step.does === 'give') asked.splice(0, 1 + (step.which % 3)).forEach(({ give }) => void give());
      else if (step.does === 'generate')
        generating.splice(0, 1 + (step.which % 3)).forEach((done) => void done());
      else if (step.does === 'leave') {
        const one = pick(tasks, step.which);
        one?.abort();
        tasks = tasks.filter((other) => other !== one);
        await one?.ended;
      } else {
        const one = pick(uploads, step.which);
        if (!one) return;
        const left = Buffer.alloc(one.bytes - one.sent);
        if (step.does === 'repeat') startUpload(one.url, one.bytes);
        else if (step.does === 'drip') one.send(left.subarray(0, Math.floor(left.length / 2)));
        else if (step.does === 'finish') {
          one.send(left);
          await one.ended;
        } else {
          one.abort();
          uploads = uploads.filter((other) => other !== one);
          await one.ended;
        }
      }
    };
    try {
      for (const step of all) {
        await act(step);
        await settle();
        await check();
      }
      await beHonest();
    } finally {
      for (const one of [...uploads, ...tasks]) {
        if (one.status === undefined) admitted += 1;
        else if (one.status === 403 || one.status === 429) refused += 1;
        one.abort();
      }
      for (const { give } of asked) give();
      for (const done of generating) done();
      await eve.client.close();
      await bob.client.close();
    }
  };
  const close = async () => {
    await images.close();
    await service.stop();
  };
  const summary = () =>
    `${admitted} requests were held open to the end, ${refused} refused; ${honest} honest publishes and tasks went on`;
  return { cases: steps, run, summary, close };
}
