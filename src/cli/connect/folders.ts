import { isAbsolute, join, resolve } from 'node:path';
import { findOtherWriter } from '../../disk/other-users.js';
import type { System } from '../terminal/system.js';
import { shellWord } from '../terminal/text.js';

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

interface OtherWriter {
  /** A sentence without its subject. */
  readonly problem: string;
  /** The command that fixes it. */
  readonly fix: string;
}

/** Describes why another user may change a file or folder; undefined if none may. */
export function describeOtherWriter(path: string): OtherWriter | undefined {
  switch (findOtherWriter(path)) {
    case 'owner':
      return { problem: 'belongs to another user', fix: `sudo chown "$(id -un)" ${shellWord(path)}` };
    case 'mode':
      return { problem: 'can be changed by other users', fix: `chmod go-w ${shellWord(path)}` };
    default:
      return undefined;
  }
}

/** Warns of a folder in which another user may replace files. */
export function warnOfOtherWriter(folder: string, warn: (sentence: string) => void): void {
  const other = describeOtherWriter(folder);
  if (other) warn(`${folder} ${other.problem}. Fix it with: ${other.fix}`);
}
