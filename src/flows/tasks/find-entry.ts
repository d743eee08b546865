import { resolve } from 'node:path';
import { FlowError } from '../flow-error.js';
import type { Entry, Ledger } from './ledger.js';

const LAST = /^@last(?::(.*))?$/;
/** Shorter beginnings of ids are words that were meant as something else. */
const MIN_PREFIX_LENGTH = 4;

/**
 * Finds the entry that a person means: by its local or remote id, the beginning of one, `@last`, `@last:video`,
 * `@last:relight`, or the path of a file that it saved.
 * @param isMeant whether the command means the tasks of this entry's service
 * @throws FlowError if several entries match the beginning of an id, or none is the last one
 */
export function findReferencedEntry(
  ledger: Ledger,
  reference: string,
  isMeant: (entry: Entry) => boolean,
): Entry | undefined {
  const exact = ledger.find(reference);
  if (exact) return isMeant(exact) ? exact : undefined;
  const last = LAST.exec(reference);
  if (last) return findLast(ledger, last[1], isMeant);
  const path = resolve(ledger.cwd, reference);
  const found: Entry[] = [];
  for (const entry of ledger.entries()) {
    if (!isMeant(entry)) continue;
    // The newest of those that saved to the same path has its results there.
    if (entry.saved?.includes(path)) return entry;
    if (startsWith(entry, reference)) found.push(entry);
  }
  if (found.length <= 1) return found[0];
  throw new FlowError(
    'ambiguous_task',
    `${found.length} tasks begin with ${reference}: ${found.slice(0, 3).map(formatId).join(', ')}${found.length > 3 ? ' and more' : ''}.`,
  );
}

function findLast(
  ledger: Ledger,
  kind: string | undefined,
  isMeant: (entry: Entry) => boolean,
): Entry | undefined {
  for (const entry of ledger.entries()) if (isMeant(entry) && isKind(entry, kind)) return entry;
  throw new FlowError('task_not_found', `No ${kind ? `${kind} ` : ''}task was started from here.`);
}

/** Whether an entry is of a kind: `image`, `video`, or an operation such as `relight` or `style-transfer`. */
export function isKind({ operation }: Pick<Entry, 'operation'>, kind: string | undefined): boolean {
  const [group, name = ''] = operation.split('.');
  const words = name.replace(/([a-z])([A-Z])/g, '$1-$2').toLowerCase();
  return kind === undefined || kind === group || kind === name || kind === words;
}

function startsWith({ id, task_id }: Entry, prefix: string): boolean {
  return prefix.length >= MIN_PREFIX_LENGTH && (task_id?.startsWith(prefix) || id.startsWith(prefix));
}

function formatId({ id, task_id }: Entry): string {
  return task_id ?? id;
}
