import type { TaskOperation } from '../../../contract/index.js';
import type { ComfyUiSettings } from '../../configuration/generation-settings.js';
import type { Workflow } from '../../configuration/workflows.js';
import { FetchFailed } from '../../network/fetch-media.js';
import type { Context } from '../../operation/context.js';
import { type Engine, EngineFailure, TaskEnded } from '../../operation/engine.js';
import type { ResultLimits } from '../upstream/retry.js';
import { ComfyUiHost, NoComfyUi } from './host.js';
import { checkNodes, checkValues, type NodeClasses, readNodeClasses } from './nodes.js';
import { cancelPrompt } from './prompt.js';
import { checkOptions } from './request.js';
import { advanceTask, parseState, waitForHost } from './task.js';

interface ComfyUiOptions extends Pick<Context, 'now' | 'log' | 'count'> {
  readonly settings: ComfyUiSettings;
  readonly workflows: ReadonlyMap<TaskOperation, Workflow>;
  readonly limits: ResultLimits;
}

/** How long the check of a workflow may take before a task is taken without it, and how long it is valid. */
const CHECK_MS = 5_000;
const CHECKED_MS = 60_000;

/** Creates the engine that runs tasks as workflows of a ComfyUI server, which forgets them when it restarts. */
export function createComfyUiEngine<Task extends TaskOperation>(options: ComfyUiOptions): Engine<Task> {
  const { settings, workflows, now, log, count } = options;
  const host = new ComfyUiHost(settings);
  const vendor = new URL(settings.baseUrl).host;
  const checked = new Map<TaskOperation, { readonly at: number; readonly classes: NodeClasses }>();
  const readClasses = async (operation: TaskOperation, workflow: Workflow, signal: AbortSignal) => {
    const known = checked.get(operation);
    if (known && now() - known.at < CHECKED_MS) return known.classes;
    const classes = await readNodeClasses(host, workflow, signal);
    // What is missing may be installed now.
    if (checkNodes(workflow, classes).length === 0) checked.set(operation, { at: now(), classes });
    return classes;
  };
  return {
    name: 'comfyui',
    atOnce: settings.atOnce,
    isRemote: true,
    resumes: true,
    async unavailable(operation) {
      const workflow = workflows.get(operation);
      if (!workflow) return undefined;
      try {
        const classes = await readClasses(operation, workflow, AbortSignal.timeout(CHECK_MS));
        const problems = checkNodes(workflow, classes);
        if (problems.length === 0) return undefined;
        log('error', 'ComfyUI cannot run a workflow.', { operation, problems: problems.join('; ') });
        return `The ComfyUI of this service cannot run the workflow of this operation: ${problems.slice(0, 3).join('; ')}.`;
      } catch (error) {
        // Decided: tasks are taken while ComfyUI does not answer, and wait for it.
        const isStrange = error instanceof NoComfyUi && error.isStrange;
        return isStrange ? `The ComfyUI of this service does not answer: ${error.message}.` : undefined;
      }
    },
    checkRequest(operation, request) {
      const workflow = workflows.get(operation);
      if (!workflow) return undefined;
      const problems = checkOptions(workflow, operation, request);
      const classes = checked.get(operation)?.classes ?? new Map();
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
        const classes = await readClasses(operation, workflow, signal);
        return [...classes.values()].some((one) => one.isPaid);
      };
      const task = { ...options, host, workflow, job, memory, signal, isPaid };
      try {
        return await advanceTask(task, parseState(await memory.read()));
      } catch (error) {
        const isFailed = error instanceof EngineFailure;
        const isAbsent = error instanceof NoComfyUi || error instanceof FetchFailed;
        if (isFailed || isAbsent)
          count('vendor_errors', { vendor, outcome: isFailed ? 'failed' : 'retried' });
        if (isAbsent) return await waitForHost(task, parseState(await memory.read()), error);
        // It was cancelled while ComfyUI was asked for it.
        if (error instanceof TaskEnded || signal.reason instanceof TaskEnded)
          await cancelPrompt(host, job.id, AbortSignal.timeout(CHECK_MS)).catch(() => false);
        throw error;
      }
    },
  };
}
