import { basename, resolve } from 'node:path';
import {
  LOCK_FILE_NAME,
  type LockFile,
  type LockSource,
  readLockFile,
  requireSource,
} from '../../flows/install/lock-file.js';
import type { Target } from '../../flows/tasks/task.js';
import { LOCK_FILE_FLAG, readText } from '../command/command.js';
import { usage } from '../terminal/failure.js';
import type { Needs } from './context.js';
import type { Service } from './services.js';
import { trimSlash } from './settings.js';

/** The lock file of a command. */
export interface LockPlace {
  readonly path: string;
  /** Absent if there is no such file yet. */
  readonly lock: LockFile | undefined;
}

/** @throws FlowError if the lock file is not valid */
export function readLockPlace({ flags, system }: Needs<'flags' | 'system'>): LockPlace {
  const path = resolve(system.cwd, readText(flags, LOCK_FILE_FLAG) ?? LOCK_FILE_NAME);
  return { path, lock: readLockFile(path) };
}

/**
 * Reaches the registry of a command that reads a lock file: the one that a flag, the environment or the project names, or
 * else that of the lock file, or else that of the settings.
 * @param nodeId a node that is asked for
 * @throws Failure if several profiles have the address of the lock file
 */
export async function reachRegistry(
  context: Needs<'services' | 'settings' | 'output'>,
  { path, lock }: LockPlace,
  nodeId?: string,
): Promise<Service> {
  const { services, output } = context;
  const target = lock && chooseLocked(context, path, lock);
  if (!lock || !target) {
    await services.readAsPublisher(nodeId);
    return services.reach();
  }
  services.use(target);
  requireSource(basename(path), lock, findLockSource(context));
  await services.readAsPublisher(nodeId);
  const service = await services.reach();
  const place = target.profile === undefined ? target.name : `${target.name} (${service.url})`;
  await output.note(`Using the registry of ${basename(path)}: ${place}.`);
  return service;
}

/** The registry of a lock file, with the profile that has its address. Undefined if another one is named, or it is chosen anyway. */
function chooseLocked(
  { services, settings }: Needs<'services' | 'settings'>,
  path: string,
  { registry, naming }: LockFile,
): Target | undefined {
  const { target: chosen } = services;
  if (!['default', settings.store.path].includes(chosen.source)) return undefined;
  const found = { source: basename(path), lock: { naming } };
  if (registry === 'local') return chosen.baseUrl === undefined ? undefined : { name: 'local', ...found };
  const baseUrl = trimSlash(registry);
  const profiles = settings.listProfiles({ baseUrl });
  const [profile] = profiles;
  if (chosen.profile !== undefined && profiles.includes(chosen.profile)) return undefined;
  if (profiles.length > 1)
    throw usage(
      `${baseUrl} of ${found.source} is the address of the profiles ${profiles.join(' and ')}.`,
      `Name one of them: --profile ${profile}`,
    );
  return { name: profile ?? baseUrl, profile, baseUrl, ...found };
}

/** How a lock file names the registry of a command. */
export function findLockSource({ services, settings }: Needs<'services' | 'settings'>): LockSource {
  const { target } = services;
  const [profile] = settings.listProfiles(target);
  const ofLock = target.lock?.naming === 'comfy' ? 'comfy' : 'regen';
  const naming = profile ? (settings.get(`profiles.${profile}.naming`)?.value ?? 'regen') : ofLock;
  return {
    registry: target.baseUrl ?? 'local',
    naming: ['regen', 'comfy'].includes(naming) ? naming : 'custom',
  };
}
