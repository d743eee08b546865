import { lstatSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { getOwnIdentity, hasEnded } from '../../disk/process-identity.js';

const DAY_MS = 24 * 60 * 60 * 1000;
/** With the day on which it was made, and the process that made it; folders of earlier releases have no day. */
const FOLDER_NAME = /^regen-run-(?:(?:(\d+)-)?(\d+)-)?/;

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
  const folder = mkdtempSync(join(tmpdir(), `regen-run-${toDay(now)}-${getOwnIdentity().pid}-`));
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

const toDay = (time: number) => Math.floor(time / DAY_MS);

function sweepOld(now: number): void {
  for (const name of readdirSync(tmpdir())) {
    const found = FOLDER_NAME.exec(name);
    // Hundreds may be left on a machine that kills commands; those that are young are not looked at.
    if (!found || Number(found[1] ?? 0) >= toDay(now) - 1) continue;
    const path = join(tmpdir(), name);
    try {
      const { uid, mtimeMs } = lstatSync(path);
      // A clock that jumps ahead must not remove the folder of a command that runs.
      const isInUse = found[2] !== undefined && !hasEnded(Number(found[2]));
      // As root, this could remove folders of other users.
      if (now - mtimeMs > DAY_MS && isOwn(uid) && !isInUse) rmSync(path, { recursive: true, force: true });
    } catch {
      // Another process has removed it.
    }
  }
}
