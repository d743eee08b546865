import { lstatSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { getOwnIdentity, hasEnded } from '../../disk/process-identity.js';

const FOLDER_PREFIX = 'regen-run-';
const MAX_AGE_MS = 24 * 60 * 60 * 1000;

/**
 * Runs `action` with an empty folder that is removed afterwards. Folders of killed commands are removed by later
 * commands after a day.
 * @param now milliseconds since the epoch
 */
export async function withScratch<Result>(
  now: number,
  action: (folder: string) => Promise<Result>,
): Promise<Result> {
  sweepOld(now);
  const folder = mkdtempSync(join(tmpdir(), `${FOLDER_PREFIX}${getOwnIdentity().pid}-`));
  try {
    return await action(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Windows has no user ids, and its temporary folder belongs to one user. */
function isOwn(uid: number): boolean {
  const own = userInfo().uid;
  return own < 0 || uid === own;
}

/** A clock that jumps ahead must not remove the folder of a command that runs. */
function isInUse(name: string): boolean {
  const pid = /^(\d+)-/.exec(name.slice(FOLDER_PREFIX.length))?.[1];
  return pid !== undefined && !hasEnded(Number(pid));
}

function sweepOld(now: number): void {
  for (const name of readdirSync(tmpdir()).filter((entry) => entry.startsWith(FOLDER_PREFIX))) {
    const path = join(tmpdir(), name);
    try {
      const { uid, mtimeMs } = lstatSync(path);
      // As root, this could remove folders of other users.
      if (now - mtimeMs > MAX_AGE_MS && isOwn(uid) && !isInUse(name))
        rmSync(path, { recursive: true, force: true });
    } catch {
      // Another process has removed it.
    }
  }
}
