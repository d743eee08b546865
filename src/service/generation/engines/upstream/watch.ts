import { retryAfterMs } from '../../../events/pauses.js';
import { EngineFailure, type EngineFile, type EngineResult } from '../../engine.js';
import { type Seen, seenIn } from './answers.js';
import { download } from './download.js';
import { type Errand, type Setback, Trying } from './errand.js';
import { keep } from './memory.js';
import { readPath } from './paths.js';
import { NoAnswer } from './vendor.js';

// Decided: what was paid for is waited for: a vendor may be away for a day, and its files for six hours.
const patienceMs = 24 * 60 * 60_000;
const filesPatienceMs = 6 * 60 * 60_000;
/** Where a vendor only calls, it may do so until the last off-peak task is due, and an hour more. */
const callPatienceMs = 49 * 60 * 60_000;
/** What neither can be read nor will be called about is lost; some vendors know a new task only after a while. */
const lostPatienceMs = 10 * 60_000;

/** Looks after the vendor's task until it has ended, and brings what it made. */
export async function resultOf(errand: Errand, vendorsId: string): Promise<EngineResult> {
  const looking = new Trying(errand);
  const files: EngineFile[] = [];
  for (;;) {
    const seen = await look(errand, vendorsId);
    if ('why' in seen) await looking.outlive(seen);
    else if (seen.state === 'failed') throw failure(errand, seen);
    else if (seen.state === 'running') await looking.goOn();
    else {
      const setback = await bring(errand, seen, files);
      if (setback === undefined) return await done(errand, vendorsId, seen, files);
      await looking.outlive(setback);
    }
  }
}

async function look(errand: Errand, vendorsId: string): Promise<Seen | Setback> {
  const { kind, job, vendor, callbacks, signal, now } = errand;
  try {
    const path = readPath(job.operation, vendorsId);
    const { status, headers, body } = await vendor.ask({ method: 'GET', path, signal });
    if (status === 404) {
      const told = seenIn(kind, await callbacks.read(job.id));
      return told ?? { why: 'it knows nothing of the task', patienceMs: unreadable(errand) };
    }
    const askedMs = retryAfterMs(headers['retry-after'], now());
    if (status !== 200) return { why: `it answered ${status}`, askedMs, patienceMs };
    return seenIn(kind, body) ?? { why: 'its answer makes no sense', patienceMs };
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error;
    return { why: error.message, patienceMs };
  }
}

function unreadable({ callbacks, job, vendor }: Errand): number {
  return callbacks.addressFor(job.id, vendor.baseUrl) ? callPatienceMs : lostPatienceMs;
}

/** Fetches the files that are not there yet. */
async function bring(
  errand: Errand,
  { files: vendors }: Extract<Seen, { state: 'done' }>,
  files: EngineFile[],
): Promise<Setback | undefined> {
  if (vendors.length === 0)
    throw new EngineFailure('The vendor says that it is done, but names no result.', {
      code: 'vendor_empty',
    });
  for (const file of vendors.slice(files.length)) {
    const fetched = await download(errand, file);
    if ('why' in fetched) return { ...fetched, patienceMs: filesPatienceMs };
    files.push(fetched);
  }
  return undefined;
}

async function done(
  { memory }: Errand,
  taskId: string,
  { files: vendors }: Extract<Seen, { state: 'done' }>,
  files: readonly EngineFile[],
): Promise<EngineResult> {
  const videos = vendors.flatMap(({ url, role, id }, at) => (role === 'video' ? [{ at, id, url }] : []));
  if (videos.length > 0) await keep(memory, { taskId, videos });
  return { files };
}

function failure({ vendor }: Errand, { code, reason }: Extract<Seen, { state: 'failed' }>): EngineFailure {
  const known = /^[\w.-]{1,100}$/.test(code ?? '') ? code : undefined;
  const words = vendor.wordsFrom(reason ?? code ?? '');
  return new EngineFailure(`The vendor could not make it${words && `: ${words}`}.`, { code: known });
}
