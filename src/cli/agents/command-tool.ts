import { PassThrough, Writable } from 'node:stream';
import { parseJson } from '../../contract/json.js';
import { removeLimits } from '../../contract/schema/json-schema.js';
import { UNTRUSTED_TEXT } from '../../contract/tool-texts.js';
import type { Tool } from '../../contract/tools.js';
import type { TaskServices } from '../../flows/tasks/task.js';
import { type ToolCall, type ToolResult, toErrorResult, toResult } from '../../wire/mcp.js';
import { type Command, isPath } from '../command/command.js';
import type { Needs } from '../connect/context.js';
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

/** Runs a command as a person would in the folder, without prompts. What it says on stderr is progress. */
export async function runCommandTool(
  context: ToolContext,
  { words, arguments: positionals, tool }: Command,
  { input, signal, report }: ToolCall,
): Promise<ToolResult> {
  const { folder, system, env, flags, runCommand } = context;
  const names = [...positionals.map(({ name }) => name), ...(tool?.flags ?? [])];
  requireKnown(input, names);
  const texts = positionals.map(({ name }) => [input[name] ?? []].flat());
  if (!texts.flat().every((text) => typeof text === 'string')) throw usage('The arguments must be texts.');
  const isGap = texts.some(
    (one, at) => one.length > 0 && texts.slice(0, at).some(({ length }) => length === 0),
  );
  if (isGap) throw usage('An argument is missing before another one.');
  positionals.forEach(({ name }, at) => {
    for (const text of texts[at] as string[]) if (name === 'dir' || isPath(text)) resolveInside(folder, text);
  });
  const own = (tool?.flags ?? []).flatMap((name) => writeFlag(name, input[name]));
  const isLimited = flags['max-credits'] !== undefined;
  const target = isLimited ? [] : ['base-url', 'profile', 'token-file'];
  const global = target.flatMap((name) => writeFlag(name, flags[name]));
  const argv = [...words, ...own, ...global, '--json', '--no-input', '--', ...(texts.flat() as string[])];
  const [stdout, stderr] = [new Capture(), new Capture(report)];
  const listen = (handler: (name: NodeJS.Signals) => void) => {
    const end = () => handler('SIGINT');
    signal.addEventListener('abort', end, { once: true });
    return () => signal.removeEventListener('abort', end);
  };
  const stdin = new PassThrough().end();
  const replaced = { stdin, stdout, stderr, env, cwd: folder, onSignal: listen };
  const parts = Object.entries(replaced).map(([name, value]) => [name, { value }]);
  const exit = await runCommand(argv, Object.create(system, Object.fromEntries(parts)));
  const answer = parseJson(stdout.text);
  const last = parseJson(stderr.text.trimEnd().split('\n').at(-1) ?? '') as { error?: object } | undefined;
  if (answer === undefined && exit !== 0)
    return toErrorResult(last?.error ?? { code: 'failed', message: stderr.text });
  return toResult(answer, last?.error ? [{ type: 'text', text: JSON.stringify(last) }] : []);
}

export function requireKnown(given: object, names: readonly string[]): void {
  const unknown = Object.keys(given).find((name) => !names.includes(name));
  if (unknown !== undefined) throw usage(`Unknown argument ${unknown.slice(0, 100)}.`);
}

export function describeCommand(
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
