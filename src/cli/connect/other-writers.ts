import { findOtherWriter } from '../../disk/other-users.js';
import { shellWord } from '../terminal/text.js';

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
