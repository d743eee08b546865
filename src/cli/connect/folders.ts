import { join } from 'node:path';
import type { System } from '../terminal/system.js';

export interface Folders {
  /** The embedded service's data. */
  readonly data: string;
  /** Logs. */
  readonly state: string;
  /** Settings and credentials. */
  readonly config: string;
}

/** Where things lie; the XDG variables are honoured on every system. */
export function folders({ env, home }: Pick<System, 'env' | 'home'>): Folders {
  return {
    data: join(env.XDG_DATA_HOME || join(home, '.local', 'share'), 'regen'),
    state: join(env.XDG_STATE_HOME || join(home, '.local', 'state'), 'regen'),
    config: join(env.XDG_CONFIG_HOME || join(home, '.config'), 'regen'),
  };
}
