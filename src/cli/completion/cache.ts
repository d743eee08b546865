import { createHash, randomUUID } from 'node:crypto';
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readPrivateFile } from '../../disk/private-file.js';

/** Cached values. */
export interface CachedValues {
  readonly values: readonly string[];
  /** When they were read, in milliseconds since 1970; 0 if never. */
  readonly at: number;
  /** When the last refresh in the background began. */
  readonly begun: number;
}

/** One small file for the values of one query to one service. */
export class CompletionCache {
  readonly #path: string;

  /** @param query what identifies the query: service, kind, node */
  constructor(stateFolder: string, query: readonly string[]) {
    const name = createHash('sha256').update(JSON.stringify(query)).digest('hex').slice(0, 24);
    this.#path = join(stateFolder, 'completion', `${name}.json`);
  }

  read(): CachedValues {
    try {
      const { values, at, begun } = JSON.parse(readPrivateFile(this.#path) ?? '');
      if (Array.isArray(values) && typeof at === 'number' && typeof begun === 'number')
        return { values, at, begun };
    } catch {}
    return { values: [], at: 0, begun: 0 };
  }

  /** Writes at once, but without waiting for the disk: lost values are read again. */
  write(cached: CachedValues): void {
    const temporary = `${this.#path}.${randomUUID()}`;
    mkdirSync(dirname(this.#path), { recursive: true, mode: 0o700 });
    writeFileSync(temporary, JSON.stringify(cached), { mode: 0o600 });
    renameSync(temporary, this.#path);
  }
}
