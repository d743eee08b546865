import { PassThrough, Writable } from 'node:stream';
import { parseJson } from '../../contract/json.js';
import { removeLimits } from '../../contract/schema/json-schema.js';
import { UNTRUSTED_TEXT } from '../../contract/tool-texts.js';
import type { Tool } from '../../contract/tools.js';
import type { TaskServices } from '../../flows/tasks/task.js';
import { type ToolCall, type ToolResult, toErrorResult, toResult } from '../../wire/mcp.js';
import { type Command, type Flag, isPath } from '../command/command.js';
import type { Needs } from '../connect/context.js';
import { Failure, usage } from '../terminal/failure.js';
import { BuiltTree } from '../views/tree.js';
import { resolveInside } from './inside.js';
import { toInputName } from './tool-failure.js';

export type ToolContext = Needs<'system' | 'output' | 'flags' | 'folders' | 'services' | 'runCommand'> & {
  /** The real path of the folder whose files may be read and written. */
  readonly folder: string;
  /** The one service that is used. */
  readonly reached: TaskServices;
  /** The environment of the commands that are run. */
  readonly env: Needs<'system'>['system']['env'];
  /** The id of the API key that is used, if it was created for the agent. */
  readonly key?: string;
};

/**
 * Runs a command as a person would in the folder, without prompts. What it says on stderr is progress.
 * @param describe writes a failure for the agent
 */
export async function runCommandTool(
  context: ToolContext,
  command: Command,
  { input, signal, report }: ToolCall,
  describe: (failure: Failure) => object,
): Promise<ToolResult> {
  const { folder, system, env, flags, runCommand } = context;
  const { words, arguments: positionals } = command;
  const taken = listFlags(command);
  requireKnown(
    input,
    [...positionals, ...taken].map(({ name }) => toInputName(name)),
  );
  const texts = positionals.map(({ name, required, variadic }) => {
    const value = input[name];
    const given = variadic && Array.isArray(value) ? value : value === undefined ? [] : [value];
    if (required && given.length === 0) throw usage(`${name} is required.`);
    if (given.every((text) => typeof text === 'string')) return given;
    throw usage(`${name} must be ${variadic ? 'a list of texts' : 'text'}.`);
  });
  const gap = texts.findIndex(
    (one, at) => one.length === 0 && texts.slice(at).some(({ length }) => length > 0),
  );
  if (gap >= 0) throw usage(`${positionals[gap]?.name} is required with what follows it.`);
  positionals.forEach(({ name }, at) => {
    for (const text of texts[at] as string[])
      if (name === 'dir' || isPath(text)) resolveInside(folder, name, text);
  });
  const own = taken.flatMap((flag) => writeFlag(flag, input[toInputName(flag.name)]));
  const isLimited = flags['max-credits'] !== undefined;
  const target = isLimited ? [] : ['base-url', 'profile', 'token-file'];
  const global = target.flatMap((name) => (flags[name] === undefined ? [] : [`--${name}=${flags[name]}`]));
  const argv = [...words, ...own, ...global, '--json', '--no-input', '--', ...texts.flat()];
  let failure: Failure | undefined;
  // The failure itself is the answer.
  const [stdout, stderr] = [new Capture(), new Capture((line) => !failure && report(line))];
  const listen = (handler: (name: NodeJS.Signals) => void) => {
    const end = () => handler('SIGINT');
    signal.addEventListener('abort', end, { once: true });
    return () => signal.removeEventListener('abort', end);
  };
  const stdin = new PassThrough().end();
  const onFailure = (printed: Failure) => {
    failure = printed;
  };
  const replaced = { stdin, stdout, stderr, env, cwd: folder, onSignal: listen, onFailure };
  const parts = Object.entries(replaced).map(([name, value]) => [name, { value }]);
  const exit = await runCommand(argv, Object.create(system, Object.fromEntries(parts)));
  const answer = parseJson(stdout.text);
  if (answer === undefined && exit !== 0) throw failure ?? new Failure(stderr.text, { code: 'failed' });
  return toResult(answer, failure ? toErrorResult(describe(failure)).content : []);
}

export function requireKnown(given: object, names: readonly string[]): void {
  const unknown = Object.keys(given).find((name) => !names.includes(name));
  if (unknown !== undefined) throw usage(`Unknown argument ${unknown.slice(0, 100)}.`);
}

export function describeCommand(name: string, command: Command): Tool {
  const { words, summary, arguments: positionals, changes } = command;
  const describe = (description = '', isList = false) =>
    isList ? { type: 'array', items: { type: 'string' }, description } : { type: 'string', description };
  const fields = [
    ...positionals.map((one) => [one.name, describe(one.description, one.variadic)] as const),
    ...listFlags(command).map(
      ({ name, description, value }) =>
        [toInputName(name), value ? describe(description) : { type: 'boolean', description }] as const,
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

/** The flags of a command that are arguments of its tool. */
function listFlags({ flags, tool }: Command): readonly Flag[] {
  return flags.filter(({ name }) => tool?.flags?.includes(name));
}

function writeFlag({ name, value: placeholder }: Flag, value: unknown): string[] {
  if (value === undefined || (value === false && placeholder === undefined)) return [];
  if (typeof value !== (placeholder === undefined ? 'boolean' : 'string'))
    throw usage(`${toInputName(name)} must be ${placeholder === undefined ? 'true or false' : 'text'}.`);
  return [value === true ? `--${name}` : `--${name}=${value}`];
}

/** Collects what a command prints, and reports each line. */
class Capture extends Writable {
  text = '';

  constructor(readonly onLine?: (line: string) => unknown) {
    super();
  }

  override _write(chunk: Buffer, _: string, done: () => void): void {
    const text = chunk.toString();
    this.text += text;
    for (const line of text.split('\n').filter(Boolean)) this.onLine?.(line);
    done();
  }
}
