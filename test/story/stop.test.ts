import { Agent, get } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { startRegen } from '../support/cli.js';
import { folderForTest } from '../support/service.js';
import { waitFor } from '../support/wait-for.js';

const DRAIN_MS = 1_500;

/** One request of a client, and how it ended. */
interface Sent {
  readonly id: string;
  readonly begun: number;
  ended?: number;
  /** The status of its answer, or the code of its error. */
  outcome?: number | string;
  /** Whether its answer said that the connection is closed. */
  closes?: boolean;
  reused?: boolean;
}

/** Sends one request after the other until it is refused. */
async function runClient(url: string, name: string, agent: Agent): Promise<Sent[]> {
  const sent: Sent[] = [];
  for (;;) {
    const one: Sent = { id: `${name}-${sent.length}`, begun: performance.now() };
    sent.push(one);
    await new Promise<void>((resolve) => {
      const done = (outcome: number | string) => {
        Object.assign(one, { outcome, ended: performance.now(), reused: asking.reusedSocket });
        resolve();
      };
      const asking = get(`${url}/health`, { agent, headers: { 'x-request-id': one.id } }, (answer) => {
        one.closes = answer.headers.connection === 'close';
        answer.resume().on('end', () => done(answer.statusCode as number));
        answer.on('error', (error: NodeJS.ErrnoException) => done(`cut: ${error.code}`));
      });
      asking.on('error', (error: NodeJS.ErrnoException) => done(error.code as string));
    });
    if (one.outcome === 'ECONNREFUSED') return sent;
  }
}

test('a service that is stopped fails no request while it drains, and none that reached it afterwards', async () => {
  const env = { REGEN_SERVE_DRAIN_MS: `${DRAIN_MS}`, REGEN_SERVE_LOG_LEVEL: 'info' };
  const service = startRegen(['serve', '--port', '0', '--data', folderForTest()], { env });
  onTestFinished(() => void service.child.kill('SIGKILL'));
  let out = '';
  service.child.stdout?.on('data', (chunk) => {
    out += chunk;
  });
  await waitFor(() => expect(out, service.said()).toMatch(/^http:\S+\n$/));
  const url = out.trim();
  const agents = Array.from({ length: 16 }, (_, at) => new Agent({ keepAlive: at % 2 === 0, maxSockets: 1 }));
  onTestFinished(() => void agents.map((agent) => agent.destroy()));
  const clients = agents.map((agent, at) => runClient(url, `client-${at}`, agent));
  await waitFor(() => expect(service.said()).toContain('client-15-9'));

  const received = performance.now();
  service.child.kill('SIGTERM');
  let notReady = Number.POSITIVE_INFINITY;
  const askReady = async () => (await fetch(`${url}/ready`).catch(() => undefined))?.status;
  for (let status = await askReady(); status !== undefined; status = await askReady()) {
    if (status === 503) notReady = Math.min(notReady, performance.now());
    await pause(10);
  }
  const sent = (await Promise.all(clients)).flat();
  expect((await service.ended).exit, service.said()).toBe(0);

  const failed = sent.filter(({ outcome }) => outcome !== 200);
  const early = failed.filter(({ ended }) => (ended as number) < received + DRAIN_MS);
  expect(early).toEqual([]);
  // Keep-alive clients leave by themselves, so that none of their connections is cut under a request.
  expect(sent.filter(({ begun, closes, outcome }) => outcome === 200 && begun > notReady && !closes)).toEqual(
    [],
  );
  expect(failed.filter(({ reused }) => reused)).toEqual([]);
  expect(new Set(failed.map(({ outcome }) => outcome))).toBeOneOf([
    new Set(['ECONNREFUSED']),
    new Set(['ECONNREFUSED', 'ECONNRESET']),
  ]);
  // The connections that were reset had not been accepted: the service saw nothing of their requests.
  const seen = new Set(Array.from(service.said().matchAll(/"requestId":"([^"]+)"/g), ([, id]) => id));
  expect(failed.filter(({ id }) => seen.has(id))).toEqual([]);
  expect(sent.filter(({ id, outcome }) => outcome === 200 && !seen.has(id))).toEqual([]);
});
