import { join } from 'node:path';
import type { System } from '../terminal/system.js';

export interface Folders {
  /** The data of the embedded service. */
  readonly data: string;
  /** The ledger, logs and caches. */
  readonly state: string;
  /** The log of services in the background. */
  readonly serviceLog: string;
  /** Settings and credentials. */
  readonly config: string;
}

/** Finds the folders of regen. The XDG variables apply on every system. */
export function findFolders({ env, home }: Pick<System, 'env' | 'home'>): Folders {
  const state = join(env.XDG_STATE_HOME || join(home, '.local', 'state'), 'regen');
  return {
    data: join(env.XDG_DATA_HOME || join(home, '.local', 'share'), 'regen'),
    state,
    serviceLog: join(state, 'service.log'),
    config: join(env.XDG_CONFIG_HOME || join(home, '.config'), 'regen'),
  };
}
