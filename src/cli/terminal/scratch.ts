import { lstatSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { platform, tmpdir, userInfo } from 'node:os';
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
  sweep(now);
  const folder = mkdtempSync(join(tmpdir(), prefix));
  try {
    return await action(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function sweep(now: number): void {
  for (const name of readdirSync(tmpdir()).filter((entry) => entry.startsWith(prefix))) {
    const path = join(tmpdir(), name);
    try {
      const found = lstatSync(path);
      const isOwn = found.isDirectory() && (platform() === 'win32' || found.uid === userInfo().uid);
      if (isOwn && now - found.mtimeMs > dayMs) rmSync(path, { recursive: true, force: true });
    } catch {
      // Gone in the meantime.
    }
  }
}
