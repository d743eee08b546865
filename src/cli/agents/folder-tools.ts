import { PassThrough, Writable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { z } from 'zod';
import type { OperationName } from '../../contract/index.js';
import { parseJson } from '../../contract/json.js';
import type { Operation } from '../../contract/operation.js';
import { findImageFields } from '../../contract/schema/image-rules.js';
import { removeLimits } from '../../contract/schema/json-schema.js';
import { render } from '../../contract/schema/message.js';
import { UNTRUSTED_TEXT } from '../../contract/tool-texts.js';
import { chooseTools, describeTool, readToolInput, type Tool, toolOperations } from '../../contract/tools.js';
import { detectFileType } from '../../disk/file-type.js';
import { Destination } from '../../flows/tasks/destination.js';
import { Ledger } from '../../flows/tasks/ledger.js';
import { startTask } from '../../flows/tasks/start-task.js';
import { findTask, type TaskContext, type TaskServices } from '../../flows/tasks/task.js';
import { readTaskState } from '../../flows/tasks/task-state.js';
import { type ToolCall, type ToolResult, type ToolServer, toErrorResult, toResult } from '../../wire/mcp.js';
import { parseJob, planLine } from '../batch/written-job.js';
import type { Command } from '../command/command.js';
import { toFailure } from '../command/to-failure.js';
import type { Needs } from '../connect/context.js';
import { finishTask } from '../generation/finish-task.js';
import { usage } from '../terminal/failure.js';
import { BuiltTree } from '../views/tree.js';
import { resolveInside } from './inside.js';

export type ToolContext = Needs<'system' | 'output' | 'flags' | 'folders' | 'services' | 'runCommand'> & {
  /** The real path of the folder whose files may be read and written. */
  readonly folder: string;
  /** The one service that is used. */
  readonly reached: TaskServices;
  /** The environment of the commands that are run. */
  readonly env: Needs<'system'>['system']['env'];
};

interface RunnableTool {
  describe(): Tool;
  run(call: ToolCall): Promise<ToolResult>;
}

/** The tools of an agent that works in a folder: operations, commands that read its packs, and waiting for a task. */
export class FolderTools implements Pick<ToolServer, 'listTools' | 'callTool'> {
  readonly #context: ToolContext;
  readonly #tools: ReadonlyMap<string, RunnableTool>;

  /** @throws Failure if a pattern names no tool */
  constructor(context: ToolContext, patterns: readonly string[]) {
    this.#context = context;
    const { commands } = new BuiltTree().readWhole();
    const all = new Map<string, RunnableTool & { readonly isDefault: boolean }>();
    for (const [name, [operation, declared]] of toolOperations) {
      const command = declared.task && commands.find((one) => one.operation === operation);
      const run = (call: ToolCall) =>
        command
          ? this.#start(command, declared, call)
          : this.#request(operation as OperationName, declared, call);
      const describe = () => this.#describeOperation(name, declared);
      all.set(name, { isDefault: declared.tool === true, describe, run });
    }
    for (const command of commands.filter(({ tool }) => tool)) {
      const name = command.words.join('_').replaceAll('-', '_');
      const describe = () => describeCommand(name, command);
      const run = (call: ToolCall) => this.#runCommand(command, call);
      all.set(name, { isDefault: command.tool?.asked !== true, describe, run });
    }
    all.set(WAIT_TOOL.name, { isDefault: true, describe: () => WAIT_TOOL, run: (call) => this.#wait(call) });
    const chosen = chooseTools(
      [...all].map(([name, { isDefault }]) => [name, isDefault]),
      patterns,
    );
    if (chosen.unknown.length > 0)
      throw usage(
        `No tool is named ${chosen.unknown.join(', ')}.`,
        `The tools are ${[...all.keys()].join(', ')}.`,
      );
    this.#tools = new Map(chosen.names.map((name) => [name, all.get(name) as RunnableTool]));
  }

  async listTools(): Promise<readonly Tool[]> {
    return [...this.#tools.values()].map((tool) => tool.describe());
  }

  async callTool(call: ToolCall): Promise<ToolResult | undefined> {
    try {
      return await this.#tools.get(call.name)?.run(call);
    } catch (error) {
      const { text, facts } = toFailure(error);
      const { code, hint, status, requestId, details } = facts;
      const listed = details?.map(({ path, message }) => ({ path, message: render(message) }));
      const more = { status, request_id: requestId, details: listed };
      return toErrorResult({ code, message: render(text), hint: hint && render(hint), ...more });
    }
  }

  #describeOperation(name: string, operation: Operation): Tool {
    const tool = describeTool(name, operation);
    return operation.task
      ? { ...tool, description: `${tool.description} An image is a path in the folder, or a URL.` }
      : tool;
  }

  async #request(
    name: OperationName,
    operation: Operation,
    { input, signal }: ToolCall,
  ): Promise<ToolResult> {
    const { params, query, body } = readToolInput(operation, input);
    const { client } = await this.#context.reached.reach();
    const given = { ...params, ...query, ...(operation.body && { body: body ?? {} }) };
    return toResult((await client.requestNamed(name, given, { signal })).data);
  }

  // Decided: a start goes on when the client cancels it or ends, because a task that was paid for must be found again.
  async #start({ words }: Command, operation: Operation, { input, report }: ToolCall): Promise<ToolResult> {
    const { folder, system, output, services } = this.#context;
    const fields = readToolInput(operation, input).body as Readonly<Record<string, unknown>>;
    requireKnown(fields, Object.keys((operation.body as z.ZodObject).shape));
    for (const field of findImageFields(operation.body as z.ZodObject))
      for (const text of [fields[field] ?? []].flat()) requireImageInside(folder, text);
    const context = this.#openTasks(new AbortController().signal);
    const planning = {
      ...context,
      services,
      output,
      system: Object.create(system, { cwd: { value: folder } }),
    };
    const record = { ...fields, command: words.join(' ') };
    const job = await planLine(parseJob({}, { line: 1, key: '', record }), planning);
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
    const { task_id: id, output, timeout_seconds: seconds = 1800 } = input;
    if (typeof id !== 'string' || !/^[\w-]{1,200}$/.test(id))
      throw usage('task_id must be the id of a task.');
    if (typeof seconds !== 'number' || !(seconds >= 0)) throw usage('timeout_seconds must be a number.');
    if (output !== undefined && typeof output !== 'string') throw usage('output must be a path.');
    const { folder, system } = this.#context;
    const path = output && `${resolveInside(folder, output)}${output.endsWith('/') ? '/' : ''}`;
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
      if (!(Number(headers['content-length']) <= MAX_PICTURE_BYTES)) continue;
      const to = new PassThrough();
      const [bytes] = await Promise.all([buffer(to), client.download(url, { to, signal })]);
      const { mediaType } = detectFileType(bytes.subarray(0, 16)) ?? {};
      if (mediaType?.startsWith('image/'))
        pictures.push({ type: 'image', data: bytes.toString('base64'), mimeType: mediaType });
    }
    return pictures;
  }

  /** Runs a command as a person would in the folder, without prompts. What it says on stderr is progress. */
  async #runCommand({ words, arguments: positionals, tool }: Command, { input, signal, report }: ToolCall) {
    const { folder, system, env, flags, runCommand } = this.#context;
    const names = [...positionals.map(({ name }) => name), ...(tool?.flags ?? [])];
    requireKnown(input, names);
    const texts = positionals.map(({ name }) => [input[name] ?? []].flat());
    if (!texts.flat().every((text) => typeof text === 'string')) throw usage('The arguments must be texts.');
    const isGap = texts.some(
      (one, at) => one.length > 0 && texts.slice(0, at).some(({ length }) => length === 0),
    );
    if (isGap) throw usage('An argument is missing before another one.');
    positionals.forEach(({ name }, at) => {
      if (name === 'dir') for (const dir of texts[at] as string[]) resolveInside(folder, dir);
    });
    const own = (tool?.flags ?? []).flatMap((name) => writeFlag(name, input[name]));
    const global = ['base-url', 'profile', 'token-file'].flatMap((name) => writeFlag(name, flags[name]));
    const argv = [...words, ...own, ...global, '--json', '--no-input', '--', ...(texts.flat() as string[])];
    const [stdout, stderr] = [new Capture(), new Capture(report)];
    const listen = (handler: (name: NodeJS.Signals) => void) => {
      const end = () => handler('SIGINT');
      signal.addEventListener('abort', end, { once: true });
      return () => signal.removeEventListener('abort', end);
    };
    const stdin = new PassThrough().end();
    const own_ = { stdin, stdout, stderr, env, cwd: folder, onSignal: listen };
    const parts = Object.entries(own_).map(([name, value]) => [name, { value }]);
    const exit = await runCommand(argv, Object.create(system, Object.fromEntries(parts)));
    const answer = parseJson(stdout.text);
    const last = parseJson(stderr.text.trimEnd().split('\n').at(-1) ?? '') as { error?: object } | undefined;
    if (answer === undefined && exit !== 0)
      return toErrorResult(last?.error ?? { code: 'failed', message: stderr.text });
    return toResult(answer, last?.error ? [{ type: 'text', text: JSON.stringify(last) }] : []);
  }

  #openTasks(signal: AbortSignal): TaskContext & { readonly ledger: Ledger } {
    const { system, folders, folder, reached } = this.#context;
    // Each call reads the ledger as it is then.
    const ledger = new Ledger(folders.state, system.now, system.identity, folder);
    return { services: reached, ledger, signal };
  }
}

const MAX_PICTURES = 4;
/** Larger ones are too much for the context of a model; they have a URL. */
const MAX_PICTURE_BYTES = 1024 ** 2;

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

function requireKnown(given: object, names: readonly string[]): void {
  const unknown = Object.keys(given).find((name) => !names.includes(name));
  if (unknown !== undefined) throw usage(`Unknown argument ${unknown.slice(0, 100)}.`);
}

/** What is neither a URL nor data is the path of a file. */
function requireImageInside(folder: string, text: unknown): void {
  if (typeof text !== 'string' || /^(?:https?|data|base64):/i.test(text)) return;
  if (/^[@-]/.test(text))
    throw usage('An image must be a path in the folder, a URL, or data:<type>;base64,<data>.');
  resolveInside(folder, text);
}

function describeCommand(
  name: string,
  { words, summary, arguments: positionals, flags, changes, tool }: Command,
): Tool {
  const describe = (description = '', isList = false) =>
    isList ? { type: 'array', items: { type: 'string' }, description } : { type: 'string', description };
  const fields = [
    ...positionals.map((one) => [one.name, describe(one.description, one.variadic)] as const),
    ...flags
      .filter((flag) => tool?.flags?.includes(flag.name))
      .map(
        ({ name, description, value }) =>
          [name, value ? describe(description) : { type: 'boolean', description }] as const,
      ),
  ];
  const required = positionals.filter((one) => one.required).map((one) => one.name);
  const answer = new BuiltTree().readAnswers()[words.join(' ')];
  const output = answer && removeLimits(answer);
  return {
    name,
    description: `${summary}. ${UNTRUSTED_TEXT}`,
    inputSchema: { type: 'object', properties: Object.fromEntries(fields), required },
    ...(output?.type === 'object' && { outputSchema: output }),
    annotations: { readOnlyHint: changes !== true, ...(changes && { destructiveHint: true }) },
  };
}

function writeFlag(name: string, value: unknown): string[] {
  if (value === undefined || value === false) return [];
  if (value === true) return [`--${name}`];
  if (typeof value !== 'string') throw usage(`${name} must be text.`);
  return [`--${name}=${value}`];
}

/** Collects what a command prints, and reports each line. */
class Capture extends Writable {
  text = '';

  constructor(readonly onLine?: (line: string) => void) {
    super();
  }

  override _write(chunk: Buffer, _: string, done: () => void): void {
    const text = chunk.toString();
    this.text += text;
    for (const line of text.split('\n').filter(Boolean)) this.onLine?.(line);
    done();
  }
}
