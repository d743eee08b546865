import { PassThrough } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { NetworkError } from '../../client/errors.js';
import type { OperationName } from '../../contract/index.js';
import { isRead, type Operation } from '../../contract/operation.js';
import { IMAGE_FORM } from '../../contract/schema/image-rules.js';
import {
  chooseTools,
  describeTool,
  isOpenToKeys,
  readToolInput,
  type Tool,
  toolOperations,
} from '../../contract/tools.js';
import { detectFileType } from '../../disk/file-type.js';
import { openLedger } from '../../flows/keys/key-ledger.js';
import { Destination } from '../../flows/tasks/destination.js';
import type { Ledger } from '../../flows/tasks/ledger.js';
import { startTask } from '../../flows/tasks/start-task.js';
import { findTask, type TaskContext } from '../../flows/tasks/task.js';
import { readTaskState } from '../../flows/tasks/task-state.js';
import { type ToolCall, type ToolResult, type ToolServer, toErrorResult, toResult } from '../../wire/mcp.js';
import { finishTask } from '../generation/finish-task.js';
import { Failure, usage } from '../terminal/failure.js';
import { BuiltTree } from '../views/tree.js';
import { describeCommand, requireKnown, runCommandTool, type ToolContext } from './command-tool.js';
import { resolveInside } from './inside.js';
import { planToolJob } from './plan-job.js';
import { toToolError } from './tool-failure.js';

interface RunnableTool {
  describe(): Tool;
  run(call: ToolCall): Promise<ToolResult>;
}

/** The tools of an agent that works in a folder: operations, commands that read its packs, and waiting for a task. */
export class FolderTools implements Pick<ToolServer, 'listTools' | 'callTool'> {
  readonly #context: ToolContext;
  readonly #tools: ReadonlyMap<string, RunnableTool>;
  /** What was asked for by a pattern, but needs more than the API key of the agent. */
  readonly leftOut: readonly string[];

  /** @throws Failure if a pattern names no tool, or one that needs more than the API key of the agent */
  constructor(context: ToolContext, patterns: readonly string[]) {
    this.#context = context;
    const { commands } = new BuiltTree().readWhole();
    const isLimited = context.flags['max-credits'] !== undefined;
    const all = new Map<string, RunnableTool & { readonly isDefault: boolean; readonly isOpen: boolean }>();
    for (const [name, [operation, declared]] of toolOperations) {
      const run = (call: ToolCall) =>
        declared.task
          ? this.#start(operation, declared, call)
          : this.#request(operation as OperationName, declared, call);
      const describe = () => this.#describeOperation(name, declared);
      const isOpen = !isLimited || isOpenToKeys(declared);
      all.set(name, { isDefault: declared.tool === true, isOpen, describe, run });
    }
    for (const command of commands.filter(({ tool }) => tool)) {
      const name = command.words.join('_').replaceAll('-', '_');
      const describe = () => describeCommand(name, command);
      const run = (call: ToolCall) =>
        runCommandTool(context, command, call, (failure) => this.#describeError(failure, name));
      // Publishing needs a personal access token.
      const isOpen = !isLimited || command.changes !== true;
      all.set(name, { isDefault: command.tool?.asked !== true, isOpen, describe, run });
    }
    const wait = { describe: () => WAIT_TOOL, run: (call: ToolCall) => this.#wait(call) };
    all.set(WAIT_TOOL.name, { isDefault: true, isOpen: true, ...wait });
    const chosen = chooseTools(
      [...all].map(([name, { isDefault }]) => [name, isDefault]),
      patterns,
    );
    if (chosen.unknown.length > 0)
      throw usage(
        `No tool is named ${chosen.unknown.join(', ')}.`,
        `The tools are ${[...all.keys()].join(', ')}.`,
      );
    const isClosed = (name: string) => all.get(name)?.isOpen === false;
    const closed = patterns.filter(isClosed);
    if (closed.length > 0)
      throw usage(
        `With --max-credits, the agent has an API key, which cannot be used for ${closed.join(', ')}.`,
        'Leave it out of --tools, or do not pass --max-credits.',
      );
    this.leftOut = chosen.names.filter((name) => isClosed(name) && all.get(name)?.isDefault === false);
    const open = chosen.names.filter((name) => !isClosed(name));
    this.#tools = new Map(open.map((name) => [name, all.get(name) as RunnableTool]));
  }

  async listTools(): Promise<readonly Tool[]> {
    return [...this.#tools.values()].map((tool) => tool.describe());
  }

  async callTool(call: ToolCall): Promise<ToolResult | undefined> {
    try {
      return await this.#tools.get(call.name)?.run(call);
    } catch (error) {
      return toErrorResult(this.#describeError(call.signal.aborted ? INTERRUPTED : error, call.name));
    }
  }

  #describeError(error: unknown, name: string): object {
    const { properties } = this.#tools.get(name)?.describe().inputSchema ?? {};
    return toToolError(error, { tools: [...this.#tools.keys()], inputs: Object.keys(properties ?? {}) });
  }

  #describeOperation(name: string, operation: Operation): Tool {
    const tool = JSON.stringify(describeTool(name, operation));
    return JSON.parse(IMAGES_HERE.reduce((text, [there, here]) => text.replaceAll(there, here), tool));
  }

  async #request(
    name: OperationName,
    operation: Operation,
    { input, signal }: ToolCall,
  ): Promise<ToolResult> {
    const { params, query, body } = readToolInput(operation, input);
    const given = { ...params, ...query, ...(operation.body && { body: body ?? {} }) };
    const { reached } = this.#context;
    const send = async () => (await reached.reach()).client.requestNamed(name, given, { signal });
    try {
      return toResult((await send()).data);
    } catch (error) {
      if (!(error instanceof NetworkError)) throw error;
      // The embedded service ends when it has nothing to do for a while.
      reached.forgetEmbedded();
      if (!isRead(operation)) throw error;
      return toResult((await send()).data);
    }
  }

  // Decided: a start goes on when the client cancels it or ends, because a task that was paid for must be found again.
  async #start(name: string, operation: Operation, { input, report }: ToolCall): Promise<ToolResult> {
    const fields = readToolInput(operation, input).body as Readonly<Record<string, unknown>>;
    const job = await planToolJob(name, fields, this.#context);
    const context = this.#openTasks(new AbortController().signal);
    const starting = {
      ...{ ...context, target: context.services.target, readStdin: async () => Buffer.alloc(0) },
      say: async (text: string) => report(text),
      warn: async (text: string) => report(text),
    };
    const { task, seen } = await startTask(starting, job, { choice: 'unfinished' });
    if (task.entry) await context.ledger.change(task.entry.id, { closed: true });
    return toResult(seen.answer);
  }

  async #wait({ input, signal, report }: ToolCall): Promise<ToolResult> {
    requireKnown(input, Object.keys(WAIT_TOOL.inputSchema.properties as object));
    const { task_id: id, output, timeout_seconds: seconds = 1800 } = input;
    if (typeof id !== 'string' || !/^[\w-]{1,200}$/.test(id))
      throw usage('task_id must be the id of a task.');
    if (typeof seconds !== 'number' || !(seconds >= 0)) throw usage('timeout_seconds must be a number.');
    if (output !== undefined && typeof output !== 'string') throw usage('output must be a path.');
    const { folder, system } = this.#context;
    const path = output && `${resolveInside(folder, 'output', output)}${output.endsWith('/') ? '/' : ''}`;
    const how = { force: false, receipt: false, resumed: true };
    const destination = path ? new Destination(folder, path, how) : undefined;
    const tasks = this.#openTasks(signal);
    const task = await findTask(tasks, id);
    destination?.check([task.entry?.name ?? task.kind], () => true);
    const watch = { state: (_: string, state: string) => report(state), saved: async () => {} };
    const limits = { now: system.now, timeoutMs: seconds * 1000, intervalMs: 10_000 };
    const { answer, lines, failure } = await finishTask({ ...tasks, ...limits, watch, destination }, task);
    if (failure) throw failure;
    const { outputs, state } = readTaskState(task.kind, answer);
    const pictures = task.kind === 'image' ? await this.#readPictures(outputs, signal) : [];
    const result = { task_id: id, status: state, results: outputs, ...(destination && { saved: lines }) };
    return toResult(result, pictures);
  }

  /** Reads the results that are small enough for an agent to look at. */
  async #readPictures(urls: readonly string[], signal: AbortSignal): Promise<object[]> {
    const { client } = await this.#context.reached.reach();
    const pictures: object[] = [];
    for (const url of urls.slice(0, MAX_PICTURES)) {
      const { headers } = await client.inspect(url, { signal });
      if (!(Number(headers['content-length']) <= MAX_PICTURE_BYTES)) {
        pictures.push({ type: 'text', text: TOO_LARGE });
        continue;
      }
      const to = new PassThrough();
      const [bytes] = await Promise.all([buffer(to), client.download(url, { to, signal })]);
      const { mediaType } = detectFileType(bytes.subarray(0, 16)) ?? {};
      if (mediaType?.startsWith('image/'))
        pictures.push({ type: 'image', data: bytes.toString('base64'), mimeType: mediaType });
    }
    return pictures;
  }

  #openTasks(signal: AbortSignal): TaskContext & { readonly ledger: Ledger } {
    const { system, folders, folder, reached, key } = this.#context;
    // Each call reads the ledger as it is then.
    const ledger = openLedger(key, folders.state, system.now, system.identity, folder);
    return { services: reached, ledger, signal };
  }
}

/** What operations say of images, and what is true of them in a folder. */
const IMAGES_HERE = [
  [IMAGE_FORM.value, 'Path in the folder, or URL'],
  ['raw Base64,', 'a path in the folder,'],
] as const;

const MAX_PICTURES = 4;
/** Larger ones are too much for the context of a model; they have a URL. */
const MAX_PICTURE_BYTES = 1024 ** 2;
const TOO_LARGE = 'Only pictures of up to 1 MB are shown. Save this one with output, or open its URL.';
const INTERRUPTED = new Failure('The client has gone; its tasks continue.', { code: 'interrupted' });

const WAIT_TOOL: Tool = {
  name: 'task_wait',
  description:
    'Wait until a task has ended, and show its pictures. If the wait ends first, the task goes on: call this again.',
  inputSchema: {
    type: 'object',
    properties: {
      task_id: { type: 'string' },
      output: { type: 'string', description: 'Save the results to this file or folder/, inside the folder' },
      timeout_seconds: { type: 'number', minimum: 0, default: 1800 },
    },
    required: ['task_id'],
  },
  annotations: { readOnlyHint: false, destructiveHint: false },
};
