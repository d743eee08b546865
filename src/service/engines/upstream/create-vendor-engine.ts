import type { VendorSettings } from '../../configuration/generation-settings.js';
import { readSecret } from '../../configuration/secret-source.js';
import { loadVendorProfile } from '../../configuration/vendor-profile.js';
import { type Database, findRow, getRow } from '../../database/database.js';
import type { Context } from '../../operation/context.js';
import type { Engine, EngineJob } from '../../operation/engine.js';
import type { ResultLimits } from '../remote/download-results.js';
import type { EngineTroubles } from '../remote/troubles.js';
import type { VendorCallbacks } from './callbacks.js';
import { createUpstreamEngine } from './engine.js';
import { createRequestWindow } from './request-window.js';
import { parseState } from './state.js';
import { Vendor } from './vendor.js';

export interface EngineOptions extends Pick<Context, 'database' | 'now' | 'log' | 'count'> {
  readonly callbacks: VendorCallbacks;
  /** Nothing is asked, so that no key is needed. */
  readonly isSilent?: boolean;
  readonly limits: ResultLimits;
  readonly troubles: EngineTroubles;
  /** Environment variables, which may hold the keys of vendors. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

export function createVendorEngine(
  settings: VendorSettings,
  { env, database, isSilent, ...shared }: EngineOptions,
): Engine {
  const loaded = loadVendorProfile(settings.vendor);
  if ('problems' in loaded) throw new Error(`The profile ${settings.vendor} is not valid.`);
  const key = isSilent ? '' : readSecret(settings.key, env);
  const vendor = new Vendor(loaded.profile, settings, key);
  const takeRequest = createRequestWindow({
    ...{ database, now: shared.now, vendor: new URL(vendor.baseUrl).host },
    perMinute: loaded.profile.limits.requestsPerMinute,
  });
  const readState = async (taskId: string, { id }: EngineJob) =>
    parseState(await readMemory(database, taskId, id));
  return createUpstreamEngine({ ...shared, settings, vendor, takeRequest, readState });
}

/** @returns the memory of a task, if it has the same creator as the other task */
async function readMemory(database: Database, taskId: string, other: string): Promise<string | undefined> {
  const { creator } = await getRow(database, 'tasks', { id: other });
  return (await findRow(database, 'tasks', { id: taskId, creator }))?.memory ?? undefined;
}
