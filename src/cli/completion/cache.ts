import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { readPrivateFile, writePrivateFile } from '../../disk/private-file.js';

/** Values read before. */
export interface Kept {
  readonly values: readonly string[];
  /** When they were read, in milliseconds since 1970; 0 for never. */
  readonly at: number;
  /** When a reading in the background was begun last. */
  readonly begun: number;
}

/** One small file for what one question to one service was answered. */
export class CompletionCache {
  readonly #path: string;

  /** @param question what tells this question from all others: service, kind, node */
  constructor(stateFolder: string, question: readonly string[]) {
    const name = createHash('sha256').update(JSON.stringify(question)).digest('hex').slice(0, 24);
    this.#path = join(stateFolder, 'completion', `${name}.json`);
  }

  read(): Kept {
    try {
      const { values, at, begun } = JSON.parse(readPrivateFile(this.#path) ?? '');
      if (Array.isArray(values) && typeof at === 'number' && typeof begun === 'number')
        return { values, at, begun };
    } catch {}
    return { values: [], at: 0, begun: 0 };
  }

  write(kept: Kept): void {
    writePrivateFile(this.#path, JSON.stringify(kept));
  }
}
