import { z } from 'zod';
import { getTaskFacts } from '../../../contract/index.js';
import { isRecord, parseJson } from '../../../contract/json.js';
import type { ComfyUiSettings } from '../../configuration/generation-settings.js';
import type { Workflow } from '../../configuration/workflows.js';
import type { Context } from '../../operation/context.js';
import {
  EngineFailure,
  type EngineJob,
  type EngineMemory,
  type EngineResult,
  type EngineWait,
} from '../../operation/engine.js';
import type { ResultLimits } from '../remote/download-results.js';
import { getPauseMs, MIN_FAILURES } from '../remote/pauses.js';
import { NoAnswer } from '../remote/remote-server.js';
import { explainFailure, explainRefusal } from './explain.js';
import { type ComfyUiHost, NotComfyUi } from './host.js';
import { cancelPrompt, findPrompt } from './prompt.js';
import { fillWorkflow, listFiles } from './request.js';
import { downloadOutputs } from './results.js';

interface ComfyUiTask extends Pick<Context, 'now' | 'log'> {
  readonly settings: ComfyUiSettings;
  readonly limits: ResultLimits;
  readonly host: ComfyUiHost;
  readonly workflow: Workflow;
  readonly job: EngineJob;
  readonly memory: EngineMemory;
  readonly signal: AbortSignal;
  /** Whether nodes of the workflow call a service that is paid. */
  readonly isPaid: () => Promise<boolean>;
}

const State = z.object({
  /** The id of its prompt, which is that of the task. */
  id: z.uuid().optional(),
  /** How often ComfyUI was asked, and may have taken it. */
  asks: z.int().default(0),
  /** When it was asked last. Milliseconds since the epoch. */
  askedAt: z.number().default(0),
  /** Since when it does not answer as expected, and how often it has not. */
  failingSince: z.number().optional(),
  failures: z.int().default(0),
});

/** What is stored about a task. */
type State = z.output<typeof State>;

/** @param text the memory of a task */
export function parseState(text = '{}'): State {
  return State.safeParse(parseJson(text)).data ?? State.parse({});
}

async function saveState({ memory, job }: ComfyUiTask, state: State): Promise<void> {
  await memory.write(JSON.stringify({ ...state, id: job.id }), state.asks > 0);
}

// Decided: a ComfyUI that is not there is waited for, as long as for a vendor; something else at its address only minutes.
const ABSENT_TIMEOUT_MS = 24 * 60 * 60_000;
const STRANGE_TIMEOUT_MS = 10 * 60_000;
/** A request without an answer may still be taken within this time. */
const UNANSWERED_MS = 3_000;
// Decided: a task that ComfyUI has forgotten, as it does when it restarts, is made once more, unless nodes of it are paid.
const MAX_ASKS = 2;

/**
 * Starts a task, or looks at one that was started and downloads its results. ComfyUI runs the same prompt twice if it is
 * asked twice, so it is looked for first.
 * @throws EngineFailure; NoAnswer and FetchFailed, which are worth a later attempt
 */
export async function advanceTask(task: ComfyUiTask, state: State): Promise<EngineResult | EngineWait> {
  const { host, workflow, job, log, limits, now, signal } = task;
  if (state.asks > 0) {
    const found = await findPrompt(host, job.id, signal);
    if (isRecord(found)) {
      const failure = explainFailure(found);
      if (failure) throw failure;
      const { kind } = getTaskFacts(job.operation);
      return { files: await downloadOutputs(found.outputs, { host, job, kind, limits, signal }) };
    }
    if (found === 'stalled') throw new NotComfyUi('tasks wait in its queue and none runs; restart it');
    if (found !== 'nowhere' || now() - state.askedAt < UNANSWERED_MS) return await waitForLook(task, state);
    const isLost = state.asks >= MAX_ASKS;
    if (isLost || (await task.isPaid())) {
      const message = `ComfyUI has lost the task${isLost ? ' twice' : ', which has nodes that are paid'}.`;
      throw new EngineFailure(message, { code: 'comfyui_lost', mayBeCharged: await task.isPaid() });
    }
    log('warn', 'ComfyUI has lost a task; it is made again.', { task: job.id });
  }
  // While it waited elsewhere, its images were not at hand.
  if (listFiles(workflow, job).some((name) => job.images[name] === undefined))
    return { waitMs: 0, isStarted: false };
  return await startPrompt(task, state);
}

async function startPrompt(task: ComfyUiTask, state: State): Promise<EngineWait> {
  const { host, workflow, job, log, now, signal } = task;
  const files: Record<string, string> = {};
  for (const name of listFiles(workflow, job))
    files[name] = await host.upload(job.images[name] as string, `${job.id}.${name}`, signal);
  const prompt = fillWorkflow(workflow, job, files);
  const asked = { ...state, asks: state.asks + 1, askedAt: now() };
  await saveState(task, asked);
  const given = { prompt, prompt_id: job.id, client_id: job.id };
  const { status, body } = await host.post('/prompt', given, signal).catch(async (error) => {
    if (error instanceof NoAnswer && !error.isSent) await saveState(task, state);
    throw error;
  });
  const answer = isRecord(body) ? body : {};
  const hasErrors = isRecord(answer.node_errors) && Object.keys(answer.node_errors).length > 0;
  if (status === 200 && answer.prompt_id === job.id && !hasErrors) {
    // Fails if the task has been cancelled since, and was not in the queue yet.
    await saveState(task, { ...asked, failingSince: undefined, failures: 0 });
    return { waitMs: getPauseMs(task.settings.pollMs, 0), isStarted: true };
  }
  if (status !== 400 && !hasErrors) throw new NotComfyUi(`it answered ${status} to a task`);
  const refusal = explainRefusal(answer);
  log('error', 'ComfyUI refuses a workflow.', { operation: job.operation, reason: refusal.message });
  // What is valid of it was taken.
  if (status === 200) await cancelPrompt(host, job.id, signal);
  throw refusal;
}

async function waitForLook(task: ComfyUiTask, { failingSince, ...state }: State): Promise<EngineWait> {
  if (failingSince !== undefined) await saveState(task, { ...state, failures: 0 });
  return { waitMs: getPauseMs(task.settings.pollMs, task.now() - state.askedAt), isStarted: true };
}

/** Waits for a ComfyUI that does not answer as expected. @throws EngineFailure if that has taken too long */
export async function waitForHost(task: ComfyUiTask, state: State, error: Error): Promise<EngineWait> {
  const { host, job, log, now } = task;
  const failures = state.failures + 1;
  const failingSince = state.failingSince ?? now();
  const failingMs = now() - failingSince;
  // It answers, but a result cannot be had.
  const isAbsent = error instanceof NoAnswer && !(error instanceof NotComfyUi);
  const timeoutMs = isAbsent ? ABSENT_TIMEOUT_MS : STRANGE_TIMEOUT_MS;
  if (failingMs > timeoutMs && failures > MIN_FAILURES) {
    await cancelPrompt(host, job.id, task.signal).catch(() => false);
    throw new EngineFailure(`ComfyUI is not available: ${error.message}.`, { code: 'comfyui_unavailable' });
  }
  if (failures === 1)
    log('warn', `ComfyUI at ${host.baseUrl} does not answer as expected: ${error.message}. The task waits.`, {
      ...{ task: job.id, host: new URL(host.baseUrl).host, reason: error.message },
    });
  await saveState(task, { ...state, failingSince, failures });
  return { waitMs: getPauseMs(task.settings.pollMs, failingMs), isStarted: state.asks > 0 };
}
