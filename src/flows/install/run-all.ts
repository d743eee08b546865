import { ServiceError } from '../../client/errors.js';
import { runInOrder } from '../../pack/run-in-order.js';
import { FlowError } from '../flow-error.js';

/** Packs that are read, downloaded or unpacked at the same time. */
const CONCURRENCY = 6;

interface Failed {
  readonly id: string;
  readonly error: Error;
}

/**
 * Runs work on all packs several at a time.
 * @returns the results in the order of the packs
 * @throws FlowError that names all that failed; the error itself if it is the only one, or not about a pack
 */
export async function runAll<Item extends { readonly nodeId: string }, Result>(
  { signal }: { readonly signal: AbortSignal },
  items: readonly Item[],
  run: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const failures: Failed[] = [];
  const attempt = async (item: Item): Promise<{ result: Result } | Failed> => {
    signal.throwIfAborted();
    try {
      return { result: await run(item) };
    } catch (error) {
      if (!(error instanceof FlowError) && !(error instanceof ServiceError)) throw error;
      return { id: item.nodeId, error };
    }
  };
  for await (const done of runInOrder(items, CONCURRENCY, attempt)) {
    if ('result' in done) results.push(done.result);
    else failures.push(done);
  }
  const [first] = failures;
  if (first === undefined) return results;
  if (failures.length === 1) throw first.error;
  const listFacts = ({ error }: Failed) => (error instanceof FlowError ? (error.facts.details ?? []) : []);
  const details = failures.flatMap((one) => [
    { path: one.id, message: one.error.message },
    ...listFacts(one).map(({ path, message }) => ({ path: `${one.id}: ${path}`, message })),
  ]);
  const refused = failures.find(({ error }) => error instanceof FlowError && error.code === 'folder_refused');
  const codes = new Set(failures.map(({ error }) => (error as FlowError | ServiceError).code));
  const isShared = codes.size === 1 && failures.length === items.length;
  const [sharedCode] = isShared ? codes : [];
  throw new FlowError(
    'install_failed',
    `${failures.length} of ${items.length} packs failed; nothing was changed.`,
    { details, sharedCode, ...(refused && { subject: refused.id }) },
  );
}
