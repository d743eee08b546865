import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { createClient } from '../../src/library/index.js';
import type { ConfigurationInput } from '../../src/service/configuration/configuration.js';
import { type RunningService, startService } from '../../src/service/serve.js';
import { createCopyingEngine } from '../support/copying-engine.js';
import { createFilmingEngine } from '../support/filming-engine.js';
import { startIssuer } from '../support/issuer.js';
import { findFreePort, listenOn } from '../support/listen.js';
import type { ReceivedWebhook } from '../support/receiver.js';
import type { Faults } from './faults.js';

/** A service in a process that is killed and started again, with its vendor, identity provider and receiver. */
export interface KilledWorld {
  readonly folder: string;
  readonly url: string;
  readonly hook: string;
  /** The environment of a command line that may do everything. */
  readonly env: Record<string, string>;
  readonly configuration: ConfigurationInput;
  readonly vendor: RunningService;
  readonly received: readonly ReceivedWebhook[];
  /** How often the service was killed so far. */
  kills(): number;
  /** Kills the service a last time. */
  endService(): Promise<void>;
  close(): Promise<void>;
}

/** How long a service lives at most while it is killed, as a multiple of the time that it takes to start. */
const LIFE = 4;
const script = 'dist/test/service-process.js';

export async function openKilledWorld(faults: Faults, maxKills: number): Promise<KilledWorld> {
  const folder = mkdtempSync(join(tmpdir(), 'regen-kills-'));
  // Not that of other programs, which remove what they find.
  const temporary = join(folder, 'tmp');
  mkdirSync(temporary);
  const slowly = async () => void (await pause(faults.draw('engine') * 400));
  const engines = { image: createCopyingEngine(slowly), video: createFilmingEngine(slowly) };
  const vendor = await startService({ graceMs: 0 }, { engines, log: () => {} });
  const key = { file: join(folder, 'vendor.key') };
  writeFileSync(key.file, vendor.ownerToken);
  const issuer = await startIssuer();
  const received: ReceivedWebhook[] = [];
  const receiver = await listenOn(async (asked, answer) => {
    const text = (await buffer(asked)).toString();
    received.push({ headers: asked.headers, text, body: JSON.parse(text) });
    answer.writeHead(204).end();
  });
  const shared = { key, engine: 'upstream', honoursKeys: true, pollMs: 100 } as const;
  const configuration: ConfigurationInput = {
    data: join(folder, 'data'),
    port: await findFreePort(),
    prices: { image: { relight: 5 } },
    issuers: [
      {
        issuer: issuer.url,
        clientId: issuer.clientId,
        scopes: ['openid', 'profile', 'email', 'offline_access'],
      },
    ],
    generation: {
      image: { ...shared, baseUrl: `${vendor.url}/proxy/imagevendor` },
      video: { ...shared, baseUrl: `${vendor.url}/proxy/videovendor` },
    },
  };

  let kills = 0;
  let startMs = 0;
  let isOver = false;
  let child: ChildProcess | undefined;
  const spawnService = async (): Promise<{ url: string; ownerToken: string }> => {
    const begun = performance.now();
    child = spawn(process.execPath, [script, JSON.stringify(configuration)], {
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    const [ready] = await Promise.race([once(child, 'message'), once(child, 'exit')]);
    startMs = performance.now() - begun;
    if (typeof ready !== 'object' || ready === null) throw new Error('The service does not start.');
    return ready;
  };
  const kill = async () => {
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  };
  const { url, ownerToken } = await spawnService();
  const client = createClient({ baseUrl: url, token: ownerToken });
  await client.publisher.create({ body: { id: 'acme', name: 'Acme' } });
  const { token } = await client.publisher.token.create({ publisherId: 'acme', body: { name: 'ci' } });
  await client.close();

  const killAgainAndAgain = async () => {
    while (kills < maxKills && !isOver) {
      await pause(faults.draw('service') * LIFE * startMs);
      if (isOver) return;
      await kill();
      kills += 1;
      await spawnService();
    }
  };
  const killing = killAgainAndAgain();
  // It is awaited at the end.
  killing.catch(() => {});
  return {
    folder,
    url,
    hook: `${receiver.url}/hook`,
    env: { REGEN_BASE_URL: url, REGEN_TOKEN: ownerToken, REGEN_PUBLISH_TOKEN: token, TMPDIR: temporary },
    configuration,
    vendor,
    received,
    kills: () => kills,
    endService: async () => {
      await killing;
      await kill();
    },
    close: async () => {
      isOver = true;
      await killing.catch(() => {});
      await kill();
      await vendor.stop();
      await Promise.all([receiver.close(), issuer.stop()]);
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
