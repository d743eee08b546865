import { parseRetryAfter } from '../../../wire/retry-after.js';
import { EngineFailure, type EngineResult, type EngineWait, TaskEnded } from '../../operation/engine.js';
import { NoAnswer, type RemoteAnswer } from '../remote/remote-server.js';
import { downloadFiles } from './look.js';
import {
  findReason,
  findText,
  parseResults,
  parseTaskId,
  readCredits,
  readPointer,
  type VendorStatus,
} from './parse-answers.js';
import { buildAddedFields, buildRequest, createRequestBody, type RequestBody } from './request.js';
import { type UpstreamTask, waitForRetry } from './retry.js';
import { saveState, type UpstreamState } from './state.js';
import { cancelVendorTask, fillPath } from './vendor-task.js';

/** How long starting a task is retried. */
const START_TIMEOUT_MS = 60 * 60_000;
/** A few refusals are tolerated, because both sides may replace the key at slightly different times. */
const MAX_REFUSED_KEYS = 5;

// Decided: a vendor that honours Idempotency-Key, as its answers show or the configuration says, is asked until it answers;
// the key is this service's task id, so that repeated requests start one task. At a vendor that lists its tasks with a
// marker, a lost start is looked for. Any other vendor is not asked again once it may have started: better a failure here
// than two charges there.
/**
 * Asks the vendor to start the task, at most once across failures, restarts and crashes.
 * @returns the state of the started task; or its results, from a vendor that answers with them
 */
export async function startVendorTask(
  task: UpstreamTask,
  state: UpstreamState,
): Promise<(UpstreamState & { readonly taskId: string }) | EngineWait | EngineResult> {
  const { memory, vendor, job, now } = task;
  const { refusedKeys = 0, failingSince, failures } = state;
  const waitMs = await task.takeRequest(false);
  if (waitMs > 0) return { waitMs, isStarted: false };
  const isLost = state.asked !== undefined && !state.asked.keyHonoured && !vendor.honoursKeys;
  if (isLost) {
    const found = await findLostTask(task, state);
    if (found === undefined) throw answerLost('this service was interrupted');
    if (typeof found === 'object')
      return await waitForRetry(task, state, { ...found, timeoutMs: START_TIMEOUT_MS });
    if (found !== NOT_STARTED) return await recordStart(task, { taskId: found });
  }
  // An earlier answer was lost.
  const mayBeCharged = state.asked !== undefined && !isLost;
  const added = state.added ?? (await buildAddedFields(task));
  const { route, ...parts } = buildRequest(task, added);
  const body = await createRequestBody({ ...parts, images: job.images });
  const asked = { keyHonoured: vendor.honoursKeys, at: now() };
  await saveState(memory, { added, refusedKeys, failingSince, failures, asked });
  const outcome = await submitTask(task, route.post, body);
  if (!['not started', 'unclear'].includes(outcome.kind)) task.troubles.end(vendor, 'silence');
  if (outcome.kind === 'started') return await recordStart(task, { ...outcome, cancel: route.cancel });
  if (outcome.kind === 'done') {
    task.troubles.end(vendor, 'account');
    const files = await downloadFiles(task, outcome.status);
    if ('why' in files) throw answerLost(files.why);
    return { files };
  }
  if (outcome.kind === 'refused')
    throw new EngineFailure(
      `The vendor refused the ${outcome.isModerated ? 'content' : 'request'}: ${outcome.why}`,
      {
        code: outcome.isModerated ? 'content_refused' : 'vendor_refused',
        mayBeCharged,
      },
    );
  const isKeyRefused = outcome.kind === 'key refused';
  if (outcome.kind === 'account' || (isKeyRefused && refusedKeys + 1 === MAX_REFUSED_KEYS))
    throw reportAccount(task, outcome, mayBeCharged);
  const isUnclear = outcome.kind === 'unclear';
  if (isUnclear && !vendor.honoursKeys && !vendor.profile.marker) throw answerLost(outcome.why);
  // Without `asked`: nothing was started, and this state still says so after a crash.
  const unasked = { added, refusedKeys: refusedKeys + Number(isKeyRefused), failingSince, failures };
  const isAsked = isUnclear || (vendor.honoursKeys && mayBeCharged);
  return await waitForRetry(task, isAsked ? { ...unasked, asked } : unasked, {
    ...outcome,
    timeoutMs: START_TIMEOUT_MS,
  });
}

async function recordStart(
  task: UpstreamTask,
  { taskId, credits, cancel }: { taskId: string; credits?: number | undefined; cancel?: string | undefined },
) {
  const { memory, now, vendor } = task;
  const started = { taskId, startedAt: now(), ...(cancel !== undefined && { cancel }) };
  task.troubles.end(vendor, 'account');
  try {
    await saveState(memory, started, credits);
  } catch (error) {
    // It was cancelled while the vendor started it.
    if (error instanceof TaskEnded) await cancelVendorTask(vendor, started, AbortSignal.timeout(CANCEL_MS));
    throw error;
  }
  return started;
}

const CANCEL_MS = 10_000;

function answerLost(why: string): EngineFailure {
  const message = `The vendor's answer was lost (${why}), and starting the task again might be charged twice.`;
  return new EngineFailure(message, { code: 'vendor_answer_lost', mayBeCharged: true });
}

/** Trouble of the operator's account: its words are for the log. */
function reportAccount(
  { log, vendor, count, troubles, now }: UpstreamTask,
  { kind, why: reason }: { readonly kind: 'account' | 'key refused'; readonly why: string },
  mayBeCharged: boolean,
): EngineFailure {
  const { host } = new URL(vendor.baseUrl);
  const isKey = kind === 'key refused';
  count('vendor_errors', { vendor: host, outcome: 'account' });
  troubles.begin(vendor, 'account', reason, now());
  log('error', isKey ? "A vendor refuses this service's key." : "A vendor refuses this service's account.", {
    vendor: host,
    reason,
  });
  const message = `The vendor refused this service's ${isKey ? 'credential' : 'account'}; contact the operator of this service.`;
  return new EngineFailure(message, {
    code: isKey ? 'vendor_credential_refused' : 'vendor_account',
    mayBeCharged,
  });
}

const NOT_STARTED = Symbol('not started');
/** A new task is in the vendor's list after this at the latest. */
const LISTED_MS = 30_000;

/**
 * Looks for the task whose start was not answered in the vendor's list.
 * @returns its id, that it was not started, or why this is not known yet; undefined if the vendor has no such list
 */
async function findLostTask(
  { vendor, job, now, signal }: UpstreamTask,
  { asked }: UpstreamState,
): Promise<string | typeof NOT_STARTED | { readonly why: string } | undefined> {
  const { marker } = vendor.profile;
  const at = asked?.at;
  if (!marker || at === undefined) return undefined;
  // The clocks of both sides may differ.
  const since = new Date(at - 5 * 60_000).toISOString();
  try {
    const { status, body } = await vendor.send({
      method: 'GET',
      path: fillPath(marker.list, { since }),
      signal,
    });
    const tasks = readPointer(body, marker.each);
    if (status !== 200 || !Array.isArray(tasks)) return { why: `its list of tasks answered ${status}` };
    const found = tasks.find((task) => readPointer(task, marker.value) === job.id);
    if (found) return parseTaskId(found, [marker.id]);
    return now() - at < LISTED_MS ? { why: 'its answer was lost, and its list may be late' } : NOT_STARTED;
  } catch (error) {
    if (error instanceof NoAnswer) return { why: error.message };
    throw error;
  }
}

type SubmitOutcome =
  | { readonly kind: 'started'; readonly taskId: string; readonly credits?: number | undefined }
  | { readonly kind: 'done'; readonly status: Extract<VendorStatus, { state: 'done' }> }
  | { readonly kind: 'refused'; readonly why: string; readonly isModerated: boolean }
  | { readonly kind: 'key refused' | 'account'; readonly why: string }
  /** Certainly nothing was started; the vendor may ask for a pause. */
  | { readonly kind: 'not started'; readonly why: string; readonly askedMs?: number | undefined }
  | { readonly kind: 'unclear'; readonly why: string };

/** When the service stops, how long it waits for an answer, to learn whether the task was started. */
const ABORT_DELAY_MS = 5_000;

async function submitTask(task: UpstreamTask, path: string, body: RequestBody): Promise<SubmitOutcome> {
  const { vendor, job, signal } = task;
  const delayed = delayAbort(signal);
  const own = Object.entries(vendor.profile.start).map(([name, value]) => [
    name,
    value.replaceAll('{id}', job.id),
  ]);
  try {
    const answer = await vendor.send({
      method: 'POST',
      path,
      headers: {
        'content-type': 'application/json',
        'content-length': String(body.length),
        ...Object.fromEntries(own),
      },
      body: body.open(),
      signal: delayed.signal,
      // Its answer has the results, so that it works on the task from here on.
      onStart: vendor.profile.task.isAnswer ? task.progress : undefined,
    });
    return toOutcome(task, answer);
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error;
    return { kind: error.isSent ? 'unclear' : 'not started', why: error.message };
  } finally {
    delayed.end();
  }
}

function toOutcome(
  { vendor, now, kind }: UpstreamTask,
  { status, headers, body }: RemoteAnswer,
): SubmitOutcome {
  const { task, errors } = vendor.profile;
  const bare = `it answered ${status}`;
  if (status >= 200 && status < 300) {
    if (task.isAnswer && body !== undefined) {
      const found = parseResults(body, { form: task, isVideo: kind === 'video', isMarked: false });
      return { kind: 'done', status: found };
    }
    const taskId = parseTaskId(body, task.id);
    return taskId === undefined
      ? { kind: 'unclear', why: 'its answer has no task id' }
      : { kind: 'started', taskId, credits: readCredits(body, task) };
  }
  const why = vendor.cleanText(findReason(body, errors) ?? bare);
  const askedMs = parseRetryAfter(headers['retry-after'], now());
  const code = findText(body, errors.code) ?? '';
  if (errors.later.includes(code)) return { kind: 'not started', why, askedMs };
  if (errors.account.includes(code) || status === 402) return { kind: 'account', why };
  if (errors.moderated.includes(code)) return { kind: 'refused', why, isModerated: true };
  if (status === 401 || status === 403) return { kind: 'key refused', why };
  if (status === 429 || status === 503 || status < 400) return { kind: 'not started', why: bare, askedMs };
  // 501: it never does this. 409: the first request with this key is still in progress.
  if ((status >= 500 && status !== 501) || status === 408 || (status === 409 && vendor.honoursKeys))
    return { kind: 'unclear', why: bare };
  return { kind: 'refused', why, isModerated: false };
}

function delayAbort(signal: AbortSignal): { readonly signal: AbortSignal; end(): void } {
  signal.throwIfAborted();
  const delayed = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const begin = () => {
    timer = setTimeout(() => delayed.abort(signal.reason), ABORT_DELAY_MS);
  };
  signal.addEventListener('abort', begin, { once: true });
  const end = () => {
    clearTimeout(timer);
    signal.removeEventListener('abort', begin);
  };
  return { signal: delayed.signal, end };
}
