import { resolve } from 'node:path';
import { ServiceError } from '../../client/errors.js';
import { parseJson } from '../../contract/json.js';
import { readPrivateFile, writePrivateFile } from '../../disk/private-file.js';
import { serviceKey } from '../../flows/tasks/ledger.js';
import { buildRequest } from '../command/build-request.js';
import { readText } from '../command/command.js';
import { toFailure } from '../command/to-failure.js';
import type { Needs } from '../connect/context.js';
import { tryLock } from '../connect/start-local.js';
import { durationMs } from '../terminal/duration.js';
import { Failure, usage } from '../terminal/failure.js';
import { findProgram, splitCommand } from '../terminal/programs.js';
import { runWithInput } from '../terminal/run-program.js';
import { formatField, oneLine } from '../terminal/text.js';
import type { View } from '../views/view.js';
import { callOperation, requireValid } from './operation.js';

type Context = Needs<'command' | 'args' | 'flags' | 'system' | 'output' | 'signal' | 'services'>;

const COLUMNS = ['at', 'change', 'node_id', 'version', 'publisher_id'] as const;

export const view = (): View => ({
  usage: 'registry changes',
  operation: 'registry.changes',
  summary: 'List public changes of nodes and versions in order, or follow them',
  flags: {
    '--follow': 'Go on with new changes until Ctrl-C, one per line (NDJSON with --json)',
    '--state <file>':
      'Continue after the change that this file names, up to the last one; each is written to it once it is printed and its program has ended',
    '--exec <command>':
      'Program to run for each change, with the change as JSON on standard input; needs --state. No shell reads the command. If it does not exit 0, the change is tried again: with --follow after the interval, otherwise by the next run',
    '--interval <duration>': 'With --follow: pause between two requests (default 10s)',
  },
  shape: { items: 'changes', columns: COLUMNS, less: ['publisher_id'], none: 'No changes.' },
  examples: [
    'regen registry changes --last 20',
    'regen registry changes --follow --state mirror.json --exec "./mirror.sh --quiet"',
  ],
});

interface Change {
  readonly cursor: string;
  readonly [field: string]: unknown;
}

export async function run(context: Context): Promise<void> {
  const { command, args, flags, output, services } = context;
  const request = buildRequest(command, args, flags);
  await requireValid('registry.changes', context, request, false);
  const [file, program] = [readText(flags, 'state'), readText(flags, 'exec')];
  if (program !== undefined && file === undefined)
    throw usage('--exec needs --state, so that no change is missed.', 'Pass --state mirror.json');
  const { interval } = flags;
  if (interval !== undefined && !flags.follow) throw usage('--interval requires --follow.');
  const pauseMs = durationMs(typeof interval === 'string' ? interval : '10s', '--interval');
  if (!flags.follow && file === undefined) return callOperation(context, 'registry.changes', request);
  if (file === undefined) return followChanges(context, { query: request.query, pauseMs });
  const path = resolve(context.system.cwd, file);
  using _ = await lockState(path);
  const state = new State(path, serviceKey({ baseUrl: (await services.reach()).url }));
  const { since, last, ...others } = request.query;
  const cursor = state.read();
  if (cursor !== undefined && (since !== undefined || last !== undefined))
    await output.note(`Continuing after the last change of ${file}.`);
  const query = cursor === undefined ? request.query : { ...others, since: cursor };
  const act = program === undefined ? undefined : createAction(context, program);
  await followChanges(context, { query, pauseMs, state, act });
}

async function lockState(path: string): Promise<Disposable> {
  const lock = await tryLock(`${path}.lock`);
  if (lock) return { [Symbol.dispose]: () => lock.release() };
  throw new Failure(`Another process follows the changes with ${path}.`, {
    code: 'state_in_use',
    hint: 'End it, or pass another file with --state.',
  });
}

/** The change after which a follower goes on. */
class State {
  constructor(
    readonly path: string,
    readonly service: string,
  ) {}

  /** @returns undefined if nothing was followed yet */
  read(): string | undefined {
    const text = readPrivateFile(this.path);
    if (text === undefined) return undefined;
    const { service, cursor } = Object(parseJson(text));
    if (typeof service !== 'string' || typeof cursor !== 'string')
      throw usage(`${this.path} is not a state file of this command.`, 'Pass another file with --state.');
    if (service === this.service) return cursor;
    throw usage(`${this.path} belongs to ${service}.`, 'Pass another file with --state.');
  }

  write(cursor: string): void {
    writePrivateFile(this.path, `${JSON.stringify({ service: this.service, cursor })}\n`);
  }
}

interface Following {
  readonly query: Readonly<Record<string, unknown>>;
  readonly pauseMs: number;
  readonly state?: State;
  /** @returns what went wrong; undefined if nothing did */
  readonly act?: ((change: Change) => Promise<string | undefined>) | undefined;
}

/** Prints changes up to the last one, and with `--follow` those that come. */
async function followChanges(context: Context, { query, pauseMs, state, act }: Following): Promise<void> {
  const { flags, output, services, signal, system } = context;
  output.beginStream();
  const { client } = await services.reach();
  for (let next = query; ; ) {
    let isAtEnd = true;
    try {
      const { changes, cursor, more } = await client.registry.changes(next, { signal });
      for (const change of changes) {
        const problem = await act?.(change);
        if (problem !== undefined) throw new Failure(problem, { code: 'exec_failed' });
        await printChange(context, change);
        next = continueAfter(next, change.cursor);
        if (act) state?.write(change.cursor);
      }
      next = continueAfter(next, cursor);
      state?.write(cursor);
      isAtEnd = !more;
    } catch (error) {
      signal.throwIfAborted();
      // A service that restarts comes back; what it refuses stays refused.
      const isRefused = error instanceof ServiceError && error.status < 500 && error.status !== 429;
      if (!flags.follow || isRefused) throw error;
      await output.warn(`${toFailure(error).message} Trying again in ${pauseMs / 1000} s.`);
    }
    if (isAtEnd && !flags.follow) return;
    if (isAtEnd) await system.sleep(pauseMs, signal);
    signal.throwIfAborted();
  }
}

function continueAfter({ last: _, ...query }: Following['query'], since: string): Following['query'] {
  return { ...query, since };
}

async function printChange({ output, system }: Needs<'output' | 'system'>, change: Change): Promise<void> {
  if (output.mode.json || output.mode.ndjson || output.mode.filter) return output.items([change]);
  const cells = COLUMNS.map((name) => String(change[name] ?? ''));
  await output.line(system.stdout.isTTY ? cells.map(oneLine).join('  ') : cells.map(formatField).join('\t'));
}

/** @returns runs the program for a change, without a shell */
function createAction(
  { system, signal }: Needs<'system' | 'signal'>,
  command: string,
): NonNullable<Following['act']> {
  const [name = '', ...words] = splitCommand(command);
  const file = /[/\\]/.test(name) ? resolve(system.cwd, name) : findProgram(name, system);
  if (file === undefined) throw usage(`There is no program '${name}' to run.`, 'Pass its path with --exec.');
  return async (change) => {
    const input = `${JSON.stringify(change)}\n`;
    const code = await runWithInput(system, { command: file, words, input, signal });
    return code === 0 ? undefined : `The program failed with ${code} at the change ${change.cursor}.`;
  };
}
