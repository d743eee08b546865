import { statSync } from 'node:fs';

/**
 * Finds out whether another user may change a file or folder: as its owner, or by its mode. root may change everything
 * anyway, and uses what belongs to others, as in a container with a mounted folder. Windows has no such modes; its user
 * folders are private.
 */
export function findOtherWriter(path: string): 'owner' | 'mode' | undefined {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (!stats || process.geteuid === undefined) return undefined;
  const own = process.geteuid();
  if (own !== 0 && stats.uid !== 0 && stats.uid !== own) return 'owner';
  return (stats.mode & 0o022) === 0 ? undefined : 'mode';
}
