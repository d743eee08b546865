import { renameSync, statSync } from 'node:fs';
import { basename, dirname, extname } from 'node:path';
import { readPrivateFile } from '../../disk/private-file.js';
import { exitCodes, Failure, usage } from '../terminal/failure.js';

type Values = Record<string, unknown>;

/** Tells the person what was repaired, in one sentence. */
export type Warn = (sentence: string) => void;

/** How long a change waits for others to finish theirs. */
const waitMs = 60_000;

/**
 * One file of values, its owner's alone. conf writes it, under a lock because conf by itself loses concurrent writes;
 * reading goes past conf, because every command reads and should not wait for conf to load, and because conf does not
 * repair a file that is damaged or that others can read. Decided: the lock is one of SQLite's, whose native driver is
 * loaded by changes only: the operating system releases it however a process ends.
 */
export class Store {
  /** @param startsOver `false`: a file that cannot be read is an error, because going on without it would do harm */
  constructor(
    readonly path: string,
    readonly warn: Warn,
    readonly startsOver = true,
  ) {}

  read(): Values {
    const text = readPrivateFile(this.path, (path) =>
      this.warn(`${path} was readable by others; now it is not.`),
    );
    if (text === undefined) return {};
    try {
      const values: unknown = JSON.parse(text);
      if (typeof values === 'object' && values !== null && !Array.isArray(values)) return values as Values;
    } catch {}
    if (!this.startsOver)
      throw usage(`${this.path} is not valid JSON.`, 'Fix it, or remove it to start over.');
    this.#setAside();
    return {};
  }

  /** Changes the values as they are on disk at that moment. */
  async change(edit: (values: Values) => Values | Promise<Values>): Promise<void> {
    const [{ default: Conf }, { LockTimeout, withLock }] = await Promise.all([
      import('conf'),
      import('../../disk/lock.js'),
    ]);
    const changing = withLock(`${this.path}.lock`, waitMs, async () => {
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
      throw new Failure(`Another command has been changing ${this.path} for ${waitMs / 1000} s.`, {
        code: 'busy',
        exit: exitCodes.unreachable,
        hint: 'Try again in a while.',
      });
    });
  }

  #setAside(): void {
    const aside = `${this.path}.corrupt-${Math.round(statSync(this.path).mtimeMs)}`;
    renameSync(this.path, aside);
    this.warn(`${this.path} could not be read; it was renamed to ${aside}, and a new one started.`);
  }
}
