import type { TaskOperation } from '../../../contract/index.js';
import type { ComfyUiSettings } from '../../configuration/generation-settings.js';
import type { Workflow } from '../../configuration/workflows.js';
import { FetchFailed } from '../../network/fetch-media.js';
import type { Context } from '../../operation/context.js';
import { type Engine, EngineFailure, TaskEnded } from '../../operation/engine.js';
import { Refused } from '../../operation/refused.js';
import type { ResultLimits } from '../remote/download-results.js';
import { getLongestPauseMs } from '../remote/pauses.js';
import { NoAnswer } from '../remote/remote-server.js';
import type { EngineTroubles } from '../remote/troubles.js';
import { ComfyUiHost, NotComfyUi } from './host.js';
import { checkNodes, checkValues, type NodeClasses, readNodeClasses } from './nodes.js';
import { cancelPrompt } from './prompt.js';
import { checkOptions } from './request.js';
import { advanceTask, parseState, waitForHost } from './task.js';

interface ComfyUiOptions extends Pick<Context, 'now' | 'log' | 'count'> {
  readonly settings: ComfyUiSettings;
  readonly workflows: ReadonlyMap<TaskOperation, Workflow>;
  readonly limits: ResultLimits;
  readonly troubles: EngineTroubles;
}

/** What a workflow needs and the server does not have. */
interface WorkflowCheck {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly classes: NodeClasses;
  readonly problems: readonly string[];
}

/** How long the check of a workflow may take before a task is taken without it, and how long it is valid. */
const CHECK_MS = 5_000;
const CHECKED_MS = 60_000;

/** Creates the engine that runs tasks as workflows of a ComfyUI server, which forgets them when it restarts. */
export function createComfyUiEngine<Task extends TaskOperation>(options: ComfyUiOptions): Engine<Task> {
  const { settings, workflows, now, log, count, troubles } = options;
  const host = new ComfyUiHost(settings);
  const vendor = new URL(settings.baseUrl).host;
  const checks = new Map<TaskOperation, WorkflowCheck>();
  const checkWorkflow = async (operation: TaskOperation, workflow: Workflow, signal: AbortSignal) => {
    const known = checks.get(operation);
    // What is missing may soon be installed.
    if (known && now() - known.at < (known.problems.length > 0 ? CHECK_MS : CHECKED_MS)) return known;
    const classes = await readNodeClasses(host, workflow, signal);
    const problems = checkNodes(workflow, classes);
    if (problems.length > 0)
      log('error', 'ComfyUI cannot run a workflow.', { operation, problems: problems.join('; ') });
    const check = { at: now(), classes, problems };
    checks.set(operation, check);
    return check;
  };
  const longestPauseMs = getLongestPauseMs(settings.pollMs);
  return {
    name: 'comfyui',
    atOnce: settings.atOnce,
    isRemote: true,
    resumes: true,
    async requireReady(operation) {
      const workflow = workflows.get(operation);
      if (!workflow) return;
      const signal = AbortSignal.timeout(CHECK_MS);
      const check = await checkWorkflow(operation, workflow, signal).catch((error) => {
        if (error instanceof NoAnswer) troubles.begin(host, 'silence', error.message, now(), longestPauseMs);
        // Decided: tasks are taken while ComfyUI does not answer, and wait for it.
        if (!(error instanceof NotComfyUi)) return undefined;
        throw new Refused('unavailable', `The ComfyUI of this service does not answer: ${error.message}.`);
      });
      if (!check || check.problems.length === 0) return;
      const named = check.problems.slice(0, 3).join('; ');
      const message = `The ComfyUI of this service cannot run the workflow of this operation: ${named}.`;
      throw new Refused('not_supported', message);
    },
    checkRequest(operation, request) {
      const workflow = workflows.get(operation);
      if (!workflow) return undefined;
      const problems = checkOptions(workflow, operation, request);
      const classes = checks.get(operation)?.classes ?? new Map();
      return problems.length > 0 ? problems : checkValues(workflow, classes, request);
    },
    cancel: async (memory, signal) => {
      const { id } = parseState(memory);
      return id !== undefined && (await cancelPrompt(host, id, signal).catch(() => false));
    },
    async run(job, signal, _progress, memory) {
      const { operation } = job;
      const workflow = workflows.get(operation);
      if (!workflow)
        throw new EngineFailure('This service has no workflow for this operation any more.', {
          code: 'workflow_missing',
        });
      const isPaid = async () => {
        const { classes } = await checkWorkflow(operation, workflow, signal);
        return [...classes.values()].some((one) => one.isPaid);
      };
      const task = { ...options, host, workflow, job, memory, signal, isPaid };
      try {
        const outcome = await advanceTask(task, parseState(await memory.read()));
        troubles.end(host, 'silence');
        return outcome;
      } catch (error) {
        const isFailed = error instanceof EngineFailure;
        const isAbsent = error instanceof NoAnswer || error instanceof FetchFailed;
        if (isFailed || isAbsent)
          count('vendor_errors', { vendor, outcome: isFailed ? 'failed' : 'retried' });
        if (isAbsent) {
          troubles.begin(host, 'silence', error.message, now(), longestPauseMs);
          return await waitForHost(task, parseState(await memory.read()), error);
        }
        if (isFailed) troubles.end(host, 'silence');
        // It was cancelled while ComfyUI was asked for it.
        if (error instanceof TaskEnded || signal.reason instanceof TaskEnded)
          await cancelPrompt(host, job.id, AbortSignal.timeout(CHECK_MS)).catch(() => false);
        throw error;
      }
    },
  };
}
