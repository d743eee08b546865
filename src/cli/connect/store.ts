import { renameSync, statSync } from 'node:fs';
import { basename, dirname, extname } from 'node:path';
import { isRecord, parseJson } from '../../contract/json.js';
import { findOtherWriter } from '../../disk/other-users.js';
import { readPrivateFile } from '../../disk/private-file.js';
import { Failure, usage } from '../terminal/failure.js';
import { shellWord } from '../terminal/text.js';

type StoredValues = Record<string, unknown>;

/** Tells the user what was repaired, in one sentence. */
export type Warn = (sentence: string) => void;

/** How long a change waits for other processes. */
const LOCK_TIMEOUT_MS = 60_000;

/**
 * A private file of values. conf writes it under a lock, because conf alone loses concurrent writes. Reading does not
 * use conf, because every command reads and would have to wait for conf to load, and because conf does not repair a file
 * that is damaged or readable by others. Decided: the lock is an SQLite lock, which the operating system releases however
 * a process ends. Its native driver is loaded only for changes.
 */
export class Store {
  /** @param startsOver whether to replace a damaged file; if not, it is an error */
  constructor(
    readonly path: string,
    readonly warn: Warn,
    readonly startsOver = true,
  ) {}

  /** @throws Failure if another user may have written the file */
  read(): StoredValues {
    const other = describeOtherWriter(this.path);
    if (other) {
      throw usage(
        `${this.path} ${other.problem}, so it is not used.`,
        `If you trust what it contains, fix it with: ${other.fix}`,
      );
    }
    const text = readPrivateFile(this.path, (path) =>
      this.warn(`${path} was readable by other users. Its permissions are fixed.`),
    );
    if (text === undefined) return {};
    const values = parseJson(text);
    if (isRecord(values)) return values as StoredValues;
    if (!this.startsOver)
      throw usage(`${this.path} is not valid JSON.`, 'Fix the file, or delete it to start over.');
    this.#setAside();
    return {};
  }

  /** Changes the values that are currently on disk. */
  async change(edit: (values: StoredValues) => StoredValues | Promise<StoredValues>): Promise<void> {
    const [{ default: Conf }, { LockTimeout, withLock }] = await Promise.all([
      import('conf'),
      import('../../disk/lock.js'),
    ]);
    const changing = withLock(`${this.path}.lock`, LOCK_TIMEOUT_MS, async () => {
      const after = await edit(this.read());
      const conf = new Conf({
        cwd: dirname(this.path),
        configName: basename(this.path, extname(this.path)),
        fileExtension: extname(this.path).slice(1),
        accessPropertiesByDotNotation: false,
        configFileMode: 0o600,
      });
      conf.store = after;
    });
    await changing.catch((error) => {
      if (!(error instanceof LockTimeout)) throw error;
      throw new Failure(`Another command has locked ${this.path} for ${LOCK_TIMEOUT_MS / 1000} s.`, {
        code: 'busy',
        hint: 'Try again later.',
      });
    });
  }

  #setAside(): void {
    const aside = `${this.path}.corrupt-${Math.round(statSync(this.path).mtimeMs)}`;
    renameSync(this.path, aside);
    this.warn(`${this.path} is damaged. It was renamed to ${aside}, and a new file was started.`);
  }
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
