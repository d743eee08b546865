import { isAbsolute, join, resolve } from 'node:path';
import type { System } from '../terminal/system.js';

export interface Folders {
  /** The data of the embedded service. */
  readonly data: string;
  /** The ledger, logs and caches. */
  readonly state: string;
  /** The log of the embedded service, when it runs in the background. */
  readonly serviceLog: string;
  /** Settings and credentials. */
  readonly config: string;
}

/**
 * Finds the folders of regen. The XDG variables apply on every system. As their specification says, relative ones are
 * ignored: otherwise secrets would be stored in the folder that a command happens to run in.
 */
export function findFolders({ env, home }: Pick<System, 'env' | 'home'>): Folders {
  const find = (given: string | undefined, ...path: string[]) =>
    join(given && isAbsolute(given) ? given : resolve(home, ...path), 'regen');
  const state = find(env.XDG_STATE_HOME, '.local', 'state');
  return {
    data: find(env.XDG_DATA_HOME, '.local', 'share'),
    state,
    serviceLog: join(state, 'service.log'),
    config: find(env.XDG_CONFIG_HOME, '.config'),
  };
}
