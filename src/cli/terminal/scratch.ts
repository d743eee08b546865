import { lstatSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';

const prefix = 'regen-run-';
const dayMs = 24 * 60 * 60 * 1000;

/**
 * Runs `action` with an empty folder that is removed afterwards. What a killed command left is removed by a later one,
 * a day on.
 * @param now milliseconds since the epoch
 */
export async function withScratch<Result>(
  now: number,
  action: (folder: string) => Promise<Result>,
): Promise<Result> {
  sweepOld(now);
  const folder = mkdtempSync(join(tmpdir(), prefix));
  try {
    return await action(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Windows has no user ids; its temporary folder belongs to one user. */
function isOwn(uid: number): boolean {
  const own = userInfo().uid;
  return own < 0 || uid === own;
}

function sweepOld(now: number): void {
  for (const name of readdirSync(tmpdir()).filter((entry) => entry.startsWith(prefix))) {
    const path = join(tmpdir(), name);
    try {
      const { uid, mtimeMs } = lstatSync(path);
      // As root, this could remove what another user named like this.
      if (isOwn(uid) && now - mtimeMs > dayMs) rmSync(path, { recursive: true, force: true });
    } catch {
      // It is gone in the meantime.
    }
  }
}
