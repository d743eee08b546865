import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { EngineFailure } from '../../src/service/operation/engine.js';
import { type RunningService, startService } from '../../src/service/serve.js';
import { createCopyingEngine } from '../support/copying-engine.js';
import { createFilmingEngine } from '../support/filming-engine.js';
import { listenOn } from '../support/listen.js';
import type { ReceivedWebhook } from '../support/receiver.js';
import { watchWrites } from '../support/watch-writes.js';
import { Faults, openGate } from './faults.js';

const prices = { image: { relight: 5 } };

/** A service with its vendor, a receiver of webhooks and a network between them, in which seeded faults happen. */
export interface World {
  readonly faults: Faults;
  /** Where clients reach the service, whatever became of it. */
  readonly url: string;
  /** Where webhooks go. */
  readonly hook: string;
  /** The webhooks that the receiver answered with success. */
  readonly received: readonly ReceivedWebhook[];
  readonly vendor: RunningService;
  /** The service, once it runs. */
  service(): Promise<RunningService>;
  jump(ms: number): void;
  /** Ends all faults and waits until nothing is left to do. */
  settle(): Promise<RunningService>;
  close(): Promise<void>;
}

const AWAITED_KINDS = [
  ...['run-image-task', 'watch-image-task', 'run-video-task', 'watch-video-task'],
  ...['deliver-webhook', 'check-archive', 'check-slow-archive'],
];

/** The requests that the vendor cannot fulfil. */
export const DARK = 'too dark';

export async function createWorld(seed: number): Promise<World> {
  const faults = new Faults(seed);
  const folder = mkdtempSync(join(tmpdir(), 'regen-simulate-'));
  const fail = (job: { request: object }) => {
    if ('prompt' in job.request && job.request.prompt === DARK) throw new EngineFailure('It is too dark.');
  };
  const engines = { image: createCopyingEngine(fail), video: createFilmingEngine(fail) };
  const vendor = await startService({ prices, graceMs: 0 }, { engines, log: () => {} });
  const vendorGate = await openGate('vendor', faults);
  const gate = await openGate('service', faults);
  const key = { file: join(folder, 'vendor.key') };
  writeFileSync(key.file, vendor.ownerToken);

  let aheadMs = 0;
  let isDead = false;
  const received: ReceivedWebhook[] = [];
  const receiver = await listenOn(async (asked, answer) => {
    const text = (await buffer(asked)).toString();
    // What a service sends that is dead in the simulation never left it.
    if (isDead) return void answer.destroy();
    if (faults.happens('webhook refused', 0.2)) return void answer.writeHead(500).end();
    received.push({ headers: asked.headers, text, body: JSON.parse(text) });
    if (faults.happens('webhook answer lost', 0.2)) return void answer.destroy();
    answer.writeHead(204).end();
  });

  let generation = 0;
  const start = async (): Promise<RunningService> => {
    const data = join(folder, `data-${generation}`);
    const shared = { key, engine: 'upstream', honoursKeys: true, pollMs: 5 } as const;
    const service = await startService(
      {
        data,
        prices,
        graceMs: 0,
        publicUrl: gate.url,
        generation: {
          image: { ...shared, baseUrl: `${vendorGate.url}/proxy/imagevendor` },
          video: { ...shared, baseUrl: `${vendorGate.url}/proxy/videovendor` },
        },
      },
      { now: () => Date.now() + aheadMs, log: () => {} },
    );
    // A process that has ended does nothing more, whatever the one that stands for it still does.
    let hasEnded = false;
    const wrote = () => {
      if (hasEnded || isDead || !faults.happens('end of the service', 0.03)) return;
      generation += 1;
      // The copy is what the disk of a process holds that is killed right now.
      copyFolder(data, join(folder, `data-${generation}`));
      hasEnded = true;
      isDead = true;
      gate.target = undefined;
      vendorGate.target = undefined;
      running = restart(service);
    };
    const refuses = () => !hasEnded && !isDead && faults.happens('write refused', 0.03);
    watchWrites(service.context, wrote, refuses);
    isDead = false;
    gate.target = service.localUrl;
    vendorGate.target = vendor.localUrl;
    return service;
  };
  const restart = async (dead: RunningService) => {
    await dead.stop();
    return start();
  };
  let running = start();

  /** A service may end while it is waited for. */
  const service = async () => {
    for (;;) {
      const waited = running;
      const one = await waited;
      if (waited === running) return one;
    }
  };
  const settle = async () => {
    faults.end();
    for (;;) {
      const one = await service();
      const next = await one.context.database
        .selectFrom('jobs')
        .select('run_at')
        .where('kind', 'in', AWAITED_KINDS)
        .orderBy('run_at')
        .executeTakeFirst();
      if (!next) return one;
      // Pauses between attempts are over at once.
      aheadMs = Math.max(aheadMs, Date.parse(next.run_at) - Date.now());
      await pause(20);
    }
  };
  const close = async () => {
    faults.end();
    await (await service()).stop();
    await vendor.stop();
    await Promise.all([gate.close(), vendorGate.close(), receiver.close()]);
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  const jump = (ms: number) => {
    aheadMs += ms;
  };
  return {
    faults,
    url: gate.url,
    hook: `${receiver.url}/hook`,
    received,
    vendor,
    service,
    jump,
    settle,
    close,
  };
}

/** Copies the data of a service. Its threads go on, and may remove files that were about to be copied. */
function copyFolder(from: string, to: string): void {
  for (let attempt = 1; ; attempt += 1) {
    try {
      cpSync(from, to, { recursive: true, filter: (path) => !path.endsWith('.sock') });
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || attempt === 20) throw error;
      rmSync(to, { recursive: true, force: true });
    }
  }
}
