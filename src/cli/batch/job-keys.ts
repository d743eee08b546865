import { createHash } from 'node:crypto';

const MAX_ID_CHARACTERS = 200;

/**
 * The key of each job, the same in every run: its `id`, or a digest of its line and the number of equal lines before
 * it. Create one for each reading of the file, and ask for the keys line by line.
 */
export class JobKeys {
  readonly #lines = new Map<string, number>();
  readonly #occurrences = new Map<string, number>();

  get size(): number {
    return this.#lines.size;
  }

  findLine(key: string): number | undefined {
    return this.#lines.get(key);
  }

  /** The key of the job at a line, or what is wrong with its id. */
  next(line: number, record: Readonly<Record<string, unknown>>): { key: string } | { problem: string } {
    const key = 'id' in record ? readId(record.id) : this.#hashContent(record);
    if (key === undefined) return { problem: `must be text of 1 to ${MAX_ID_CHARACTERS} characters` };
    const before = this.#lines.get(key);
    if (before !== undefined) return { problem: `is already used in line ${before}` };
    this.#lines.set(key, line);
    return { key };
  }

  #hashContent(record: Readonly<Record<string, unknown>>): string {
    const digest = createHash('sha256').update(toCanonicalJson(record)).digest('hex').slice(0, 16);
    const occurrence = (this.#occurrences.get(digest) ?? 0) + 1;
    this.#occurrences.set(digest, occurrence);
    return `${digest}-${occurrence}`;
  }
}

function readId(id: unknown): string | undefined {
  const text = typeof id === 'number' ? String(id) : id;
  return typeof text === 'string' && text !== '' && text.length <= MAX_ID_CHARACTERS ? text : undefined;
}

/** Sorts the keys, so that equal objects give equal text. */
function toCanonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) => {
    if (typeof inner !== 'object' || inner === null || Array.isArray(inner)) return inner;
    return Object.fromEntries(Object.entries(inner).sort(([one], [other]) => (one < other ? -1 : 1)));
  });
}
