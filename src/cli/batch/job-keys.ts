import { createHash } from 'node:crypto';

const longestId = 200;

/**
 * What each job of a file is known by from run to run: its `id`, else what its line says and how often that was said
 * before. One of these a reading of the file, asked line by line.
 */
export class JobKeys {
  readonly #lines = new Map<string, number>();
  readonly #occurrences = new Map<string, number>();

  /** How many jobs were named so far. */
  get size(): number {
    return this.#lines.size;
  }

  /** The line of the job with this key, if there is one. */
  lineOf(key: string): number | undefined {
    return this.#lines.get(key);
  }

  /** The key of the job at a line, or what is wrong with its id. */
  next(line: number, record: Readonly<Record<string, unknown>>): { key: string } | { problem: string } {
    const key = 'id' in record ? idIn(record.id) : this.#ofContent(record);
    if (key === undefined) return { problem: `must be text of 1 to ${longestId} characters` };
    const before = this.#lines.get(key);
    if (before !== undefined) return { problem: `is the one of line ${before} already` };
    this.#lines.set(key, line);
    return { key };
  }

  #ofContent(record: Readonly<Record<string, unknown>>): string {
    const digest = createHash('sha256').update(toCanonicalJson(record)).digest('hex').slice(0, 16);
    const occurrence = (this.#occurrences.get(digest) ?? 0) + 1;
    this.#occurrences.set(digest, occurrence);
    return `${digest}-${occurrence}`;
  }
}

function idIn(id: unknown): string | undefined {
  const text = typeof id === 'number' ? String(id) : id;
  return typeof text === 'string' && text !== '' && text.length <= longestId ? text : undefined;
}

/** The same text whatever the order of the keys. */
function toCanonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) => {
    if (typeof inner !== 'object' || inner === null || Array.isArray(inner)) return inner;
    return Object.fromEntries(Object.entries(inner).sort(([one], [other]) => (one < other ? -1 : 1)));
  });
}
