import { setTimeout as pause } from 'node:timers/promises';
import { ClientError, NetworkError, ServiceError } from '../../client/errors.js';
import { getTaskFacts, type OperationName } from '../../contract/index.js';
import type { TaskKind } from '../../contract/operation.js';
import { detectFileType } from '../../disk/file-type.js';
import { readGivenFile } from '../../disk/folder-file.js';
import { backoffMs } from '../../wire/backoff.js';
import { FlowError } from '../flow-error.js';
import { createHiddenError } from './hidden-task.js';
import { type ImageReference, toReference } from './image-reference.js';
import { type Entry, type EntryChoice, type NewEntry, serviceKey } from './ledger.js';
import {
  cannotRead,
  findTask,
  readTask,
  type Target,
  type Task,
  type TaskContext,
  toStartedTask,
  toTask,
} from './task.js';
import { findEnd, readTaskState, type TaskState } from './task-state.js';

/** A task to start; its images are not read yet. */
export interface Job {
  /** Such as `image.relight`. */
  readonly operation: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly images: Images;
  /** The base of the names of its result files. */
  readonly name: string;
  /** The task whose video is extended; it is not read yet. */
  readonly fromTask?: string;
  /** Its price on the list of its service; recorded until the service reports the cost. */
  readonly price?: number | undefined;
}

/** A task that the service accepted. */
interface StartedTask {
  readonly task: Task;
  /** The response to its start, or the current state if an earlier run started it. */
  readonly seen: TaskState;
}

/** Where a job is sent, and how its progress is reported. */
interface StartContext extends TaskContext {
  readonly target: Target;
  readStdin(): Promise<Buffer>;
  say(text: string): Promise<void>;
  warn(text: string): Promise<void>;
}

/** How a job is recorded in the ledger. */
interface StartOptions {
  readonly choice: EntryChoice;
  /** Where its results will be saved, if that is known. */
  readonly output?: string | undefined;
  /** Present if it is a job of a batch. */
  readonly batch?: true;
  /** Called with the local id before the request is sent. */
  onEntry?(id: string): unknown;
}

/** Starts a task. It is recorded in the ledger before the request is sent. */
export async function startTask(
  context: StartContext,
  job: Job,
  options: StartOptions,
): Promise<StartedTask> {
  const { ledger, target } = context;
  const { kind } = getTaskFacts(job.operation);
  const { request, whole } = await prepareRequest(context, job);
  const { output, batch } = options;
  const draft = {
    ...toDraft(context, job, request),
    ...(job.price !== undefined && { credits: job.price }),
    ...(output !== undefined && { output }),
    ...(batch && { batch }),
  };
  const open = async () => {
    const opened = await ledger.open(draft, options.choice);
    options.onEntry?.(opened.entry.id);
    return opened;
  };
  let opened = await open();
  while (opened.entry.task_id !== undefined) {
    const resumed = await resumeTask(context, opened.entry);
    if (resumed) return resumed;
    opened = await open();
  }
  const { entry, repeats, stale } = opened;
  if (repeats) await context.say(`Repeating request ${entry.id} of an earlier run, which got no response.`);
  if (stale) {
    await context.warn(
      `The same request was sent at ${stale.created_at} and got no response (${stale.id}). This is a new task.`,
    );
  }
  // An idempotency key is valid for the same body only.
  const same = repeats && 'video_url' in request && { video_url: entry.request.video_url };
  const body = { ...whole, ...same };
  // Then only an answer to the same key can tell that there is no task.
  let mayExist = repeats;
  const markUncertain = () => {
    mayExist = true;
  };
  try {
    const name = job.operation as OperationName;
    const answer = await sendStart(context, name, body, entry.idempotency_key, markUncertain);
    const seen = readTaskState(kind, answer.data, answer.body);
    const { id, state, outputs, facts } = seen;
    await ledger.change(entry.id, { task_id: id, state, outputs, ...facts });
    const started = toStartedTask(name, id, target);
    return { seen, task: { ...started, entry: ledger.read(entry.id) ?? entry } };
  } catch (error) {
    if (isRefusal(error, mayExist)) ledger.remove(entry.id);
    throw error;
  }
}

/** @returns what is recorded of a request, and all of its body */
async function prepareRequest(context: StartContext, { operation, body, images, fromTask }: Job) {
  const { sent, kept } = await loadImages(images, getTaskFacts(operation).kind, context.readStdin);
  const made = fromTask === undefined ? {} : await findCreation(context, fromTask);
  return { request: { ...body, ...made, ...kept }, whole: { ...body, ...made, ...sent } };
}

function toDraft({ target }: StartContext, { operation, name }: Job, request: Entry['request']): NewEntry {
  const { profile } = target;
  return { service: serviceKey(target), ...(profile !== undefined && { profile }), operation, request, name };
}

/** What an earlier run did of some jobs. */
export interface EarlierRun<One> {
  /** Those whose tasks it started, so that they are not paid for again. */
  readonly started: ReadonlySet<One>;
  /** How many of the others it sent without getting a response; their tasks may be paid for. */
  readonly unanswered: number;
}

/** Finds what an earlier run did of some jobs. */
export async function findEarlierRun<One extends Job>(
  context: StartContext,
  jobs: readonly One[],
): Promise<EarlierRun<One>> {
  const started = new Set<One>();
  let unanswered = 0;
  const operations = new Set(jobs.map(({ operation }) => operation));
  if (!context.ledger.hasUnfinished(operations)) return { started, unanswered };
  const counted = new Map<string, number>();
  for (const job of jobs) {
    // It can be read only once.
    const isPiped = Object.values(job.images)
      .flat()
      .some(({ kind }) => kind === 'stdin');
    // What is wrong with it is reported when it is started.
    const prepared = isPiped ? undefined : await prepareRequest(context, job).catch(() => undefined);
    context.signal.throwIfAborted();
    const draft = prepared && toDraft(context, job, prepared.request);
    const entry = draft && context.ledger.findEarlier(draft, counted);
    if (entry?.task_id !== undefined) started.add(job);
    else if (entry) unanswered += 1;
  }
  return { started, unanswered };
}

/**
 * Resumes a task that an earlier run started, even if it has ended.
 * @returns undefined if the embedded service no longer has it
 * @throws FlowError task_hidden if another service has it no longer, or not for this credential
 */
async function resumeTask(context: StartContext, entry: Entry): Promise<StartedTask | undefined> {
  const { ledger, say } = context;
  const task = toTask(context, entry);
  try {
    const seen = await readTask(context, task);
    await say('Resuming what an earlier run started; it is not paid for again. Pass --again to start over.');
    return { task, seen };
  } catch (error) {
    if (cannotRead(error, task))
      return { task, seen: { answer: {}, sent: {}, id: task.id, state: '', outputs: [], facts: {} } };
    if (!(error instanceof ServiceError) || error.status !== 404) throw error;
    // Its owner sees all tasks of the embedded service.
    if (task.target.baseUrl !== undefined) throw createHiddenError(entry);
    await ledger.change(entry.id, { state: 'GONE', closed: true });
    return undefined;
  }
}

const MAX_TRIES = 5;
const MAX_PAUSE_MS = 10_000;

// Decided: a start whose response was lost is retried only on the embedded service, which is known to honour the key.
// On other services the user decides, by running the command again.
async function sendStart(
  { services, target, signal }: StartContext,
  name: OperationName,
  body: object,
  idempotencyKey: string,
  markUncertain: () => void,
) {
  for (let attempt = 1; ; attempt++) {
    try {
      const { client } = await services.reach(target);
      return await client.requestNamed(name, { body }, { idempotencyKey, signal });
    } catch (error) {
      signal.throwIfAborted();
      if (!isRefusal(error, false)) markUncertain();
      if (attempt === MAX_TRIES || !mayRepeat(error, target)) throw error;
      if (error instanceof NetworkError) services.forgetEmbedded();
      const retryAfterMs = error instanceof ServiceError ? error.retryAfterMs : undefined;
      const pauseMs = retryAfterMs ?? backoffMs(attempt, { firstMs: 300, maxMs: 2_000 });
      await pause(Math.min(pauseMs, MAX_PAUSE_MS), undefined, { signal });
    }
  }
}

function mayRepeat(error: unknown, target: Target): boolean {
  // The service is still processing the request of an earlier run.
  if (error instanceof ServiceError) return error.code === 'idempotency_in_flight';
  return error instanceof NetworkError && target.baseUrl === undefined;
}

/** With these, a service that honours the key says that no request with it was accepted before. */
const REFUSALS = [400, 404, 413, 415, 422, 501];

/**
 * Whether the service certainly did not start a task: it refused, or the request did not reach it.
 * @param mayExist whether an earlier request with the same key may have reached it
 */
function isRefusal(error: unknown, mayExist: boolean): boolean {
  if (error instanceof NetworkError) return error.sent === false && !mayExist;
  if (error instanceof ServiceError) {
    if (REFUSALS.includes(error.status)) return true;
    return !mayExist && error.status < 500 && ![408, 409, 429].includes(error.status);
  }
  // The client refused the request before it was sent. After all other errors a task may exist.
  return error instanceof ClientError && error.code === 'invalid_request';
}

/**
 * Finds the video of a task.
 * @returns the fields that name the video to extend
 * @throws FlowError if it has none, or none yet
 */
async function findCreation(context: TaskContext & { readonly target: Target }, id: string) {
  const task = await findTask(context, id);
  const seen = await readTask(context, task).catch((error) => {
    if (!(error instanceof ServiceError) || task.target === context.target) throw error;
    throw new ServiceError({ ...error, message: `The video is on ${task.target.name}: ${error.message}` });
  });
  const { creations } = seen.answer as { creations?: { id: string; url: string }[] };
  const [first] = creations ?? [];
  if (first) return { video_creation_id: first.id, video_url: first.url };
  const code = findEnd(seen.state) ? 'nothing_to_extend' : 'still_running';
  throw new FlowError(code, `Task ${task.id} has no video to extend; its status is ${seen.state}.`, {
    subject: task.id,
  });
}

/** Where an image comes from; it is not read yet. */
export type ImageSource =
  | { readonly kind: 'url'; readonly url: string }
  | { readonly kind: 'file'; readonly path: string; readonly bytes: number }
  | { readonly kind: 'data'; readonly base64: string }
  | { readonly kind: 'stdin' };

/** The images of a request by field; a field that is a list has several. */
export type Images = Readonly<Record<string, ImageSource | readonly ImageSource[]>>;

/** An image in the request and in the ledger. */
interface LoadedImage {
  /** Base64 in the form of the operation, or the URL. */
  readonly value: string;
  readonly kept: ImageReference | string;
}

/**
 * Reads the images of a request.
 * @param kind image operations take raw Base64, video operations take data URLs
 * @returns the fields for the request, and for the ledger
 */
export async function loadImages(images: Images, kind: TaskKind, readStdin: () => Promise<Buffer>) {
  const sent: Record<string, string | string[]> = {};
  const kept: Record<string, LoadedImage['kept'] | LoadedImage['kept'][]> = {};
  const load = async (source: ImageSource): Promise<LoadedImage> => {
    if (source.kind === 'url') return { value: source.url, kept: source.url };
    const bytes = await readImage(source, readStdin);
    const reference = toReference(bytes, source.kind === 'file' ? source.path : undefined);
    return { value: encodeImage(bytes, kind), kept: reference };
  };
  for (const [field, source] of Object.entries(images)) {
    const loaded: LoadedImage[] = [];
    for (const one of [source].flat()) loaded.push(await load(one));
    const pick = <Part>(parts: Part[]) => (Array.isArray(source) ? parts : (parts[0] as Part));
    sent[field] = pick(loaded.map(({ value }) => value));
    kept[field] = pick(loaded.map((one) => one.kept));
  }
  return { sent, kept };
}

async function readImage(
  source: Exclude<ImageSource, { kind: 'url' }>,
  readStdin: () => Promise<Buffer>,
): Promise<Buffer> {
  if (source.kind === 'data') return Buffer.from(source.base64, 'base64');
  return source.kind === 'stdin' ? readStdin() : readGivenFile(source.path);
}

/** Writes an image as the operations of a kind take it: in raw Base64, or as a data URL. */
export function encodeImage(bytes: Buffer, kind: TaskKind): string {
  if (kind === 'image') return bytes.toString('base64');
  const type = detectFileType(bytes.subarray(0, 16))?.mediaType ?? 'application/octet-stream';
  return `data:${type};base64,${bytes.toString('base64')}`;
}
