import { join } from 'node:path';
import type { System } from '../terminal/system.js';

export interface Folders {
  /** The embedded service's data. */
  readonly data: string;
  /** The ledger, logs and what commands remember. */
  readonly state: string;
  /** What services in the background write. */
  readonly serviceLog: string;
  /** Settings and credentials. */
  readonly config: string;
}

/** Where things lie; the XDG variables are honoured on every system. */
export function findFolders({ env, home }: Pick<System, 'env' | 'home'>): Folders {
  const state = join(env.XDG_STATE_HOME || join(home, '.local', 'state'), 'regen');
  return {
    data: join(env.XDG_DATA_HOME || join(home, '.local', 'share'), 'regen'),
    state,
    serviceLog: join(state, 'service.log'),
    config: join(env.XDG_CONFIG_HOME || join(home, '.config'), 'regen'),
  };
}
