import { basename } from 'node:path';
import { z } from 'zod';
import { regen, say } from '../../contract/schema/message.js';
import type { KeyEntry } from '../../flows/keys/key-ledger.js';
import type { Entry } from '../../flows/tasks/ledger.js';
import { findEntry, isKind, readTask, requireKind, toTask } from '../../flows/tasks/task.js';
import { describeState, findEnd, parseState, taskStates } from '../../flows/tasks/task-state.js';
import { type FlagValues, readNumber, readText } from '../command/command.js';
import { confirmDestruction, reportDestruction } from '../command/confirm.js';
import { runInParallel } from '../command/parallel.js';
import type { Needs } from '../connect/context.js';
import { shortenIds } from '../terminal/cells.js';
import { durationMs } from '../terminal/duration.js';
import { Failure, usage } from '../terminal/failure.js';
import { formatCount, oneLine } from '../terminal/text.js';
import { LedgerEntry } from '../views/answers.js';
import { taskExplain } from '../views/flags.js';
import type { View } from '../views/view.js';

type Context = Needs<
  'command' | 'args' | 'flags' | 'system' | 'output' | 'signal' | 'ledger' | 'services' | 'mayAsk'
>;

export const view = (): View[] => [
  {
    usage: 'task list',
    local: true,
    summary: 'List the tasks started from this machine, newest first',
    flags: {
      '--state <choice>': {
        description: 'Only tasks in this state; can be repeated',
        choices: [...taskStates],
        repeat: true,
      },
      '--kind <text>': 'Only image or video tasks, or those of one command such as relight',
      '--since <time>': 'Only tasks started within this time, such as 24h, or since a date',
      '--service <text>': "Only tasks of this service: 'local' or a part of its address",
      '--limit <number>': 'At most this many tasks',
    },
    shape: {
      columns: ['id', 'task_id', 'operation', 'state', 'created_at', 'service'],
      less: ['service', 'result'],
    },
    examples: [
      'regen task list --state running',
      'regen task list --kind video --since 7d --jq "map(.credits) | add"',
    ],
    answer: z.array(LedgerEntry),
  },
  {
    usage: 'task show <task_id>',
    local: true,
    summary: 'Show the local record of a task: request, state, results',
    explain: taskExplain,
    examples: ['regen task show 0b5f3c1e-8d7a-4e52-9c1f-2a6b7d8e9f00 --json'],
    answer: LedgerEntry,
  },
  {
    usage: 'task forget <task_id...>',
    local: true,
    destroys: {
      action: 'Remove {tasks} from the list on this machine',
      loss: 'Their requests are not recorded anywhere else.',
    },
    summary: 'Remove tasks from the list on this machine; their results stay where they are',
    explain: taskExplain,
    flags: { '--force': 'Forget tasks that have not ended, too' },
    examples: [
      'regen task forget @last',
      'regen task list --state failed --jq ".[].id" | xargs regen task forget --yes',
    ],
  },
];

export const run = { list: listEntries, show: showEntry, forget: forgetEntries };

/** Lists the ledger. A terminal shows how a person knows a task: the beginning of its id, its image and its result. */
async function listEntries(context: Context): Promise<void> {
  const { command, flags, ledger, output, system } = context;
  const isWanted = readFilter(flags, system.now());
  const isWantedAnyState = readFilter({ ...flags, state: undefined }, system.now());
  const limit = readNumber(flags, 'limit', { min: 1 });
  await refreshTasks(context, [...ledger.entries()].filter(isWantedAnyState).slice(0, limit));
  const all = [...ledger.entries()];
  const entries = all.filter(isWanted).slice(0, limit);
  if (!output.isTable) {
    const toRow = (entry: Entry) => ({ state: 'unanswered', ...entry });
    await output.answer(output.mode.json ? entries : entries.map(toRow), command.shape);
  } else {
    const ids = shortenIds(all.flatMap(({ task_id = [] }) => task_id));
    const toRow = (entry: Entry) => ({
      ...entry,
      task: (entry.task_id && ids.get(entry.task_id)) ?? entry.task_id ?? entry.id,
      state: entry.state ? describeState(entry.state) : 'unanswered',
      name: describeInput(entry),
      result: entry.saved?.map((path) => basename(path)),
    });
    const columns = ['task', 'operation', 'state', 'created_at', 'name', 'credits', 'result', 'service'];
    await output.answer(entries.map(toRow), { ...command.shape, columns });
  }
  const tasks = entries.filter(({ task_id }) => task_id !== undefined);
  const spent = tasks.reduce((sum, { credits = 0 }) => sum + credits, 0);
  const unanswered = entries.length - tasks.length;
  if (entries.length > 0) {
    const lost = unanswered > 0 ? `, ${formatCount(unanswered, 'request')} without a response` : '';
    const count = `${formatCount(tasks.length, 'task')}${lost}`;
    const isLocal = entries.every(({ service }) => service === 'local');
    const previews = isLocal ? ' (previews on this machine are not billed)' : '';
    await output.note(spent > 0 ? `${count}, ${formatCount(spent, 'credit')}${previews}.` : `${count}.`);
  }
}

/** What a person knows a task by: its image, or its prompt. */
function describeInput({ name, operation, request }: Entry): string {
  const { images, prompt } = request;
  const isUnnamed = operation.startsWith('video.') && images === undefined && typeof prompt === 'string';
  if (!isUnnamed) return name;
  const letters = Array.from(prompt.slice(0, 2 * MAX_PROMPT_LENGTH));
  return letters.length > MAX_PROMPT_LENGTH ? `${letters.slice(0, MAX_PROMPT_LENGTH).join('')}…` : prompt;
}

const MAX_PROMPT_LENGTH = 30;

/** How many tasks are read in parallel, how many at most, and for how long. */
const READS = { atOnce: 8, most: 200, timeoutMs: 5_000 };

/** Asks the services about tasks that were last seen queued or running. What does not answer in time stays as it is. */
async function refreshTasks(context: Context, entries: readonly Entry[]): Promise<void> {
  const open = entries.filter(({ task_id, state }) => task_id !== undefined && !findEnd(state));
  if (open.length === 0) return;
  const signal = AbortSignal.any([context.signal, AbortSignal.timeout(READS.timeoutMs)]);
  await runInParallel(open.slice(0, READS.most), READS.atOnce, async (entry) => {
    try {
      await readTask({ ...context, signal }, toTask(context, entry));
    } catch {
      context.signal.throwIfAborted();
    }
  });
}

function readFilter(flags: FlagValues, now: number): (entry: Entry) => boolean {
  const states = ((flags.state ?? []) as readonly string[]).map((word) => {
    const state = parseState(word);
    if (state === undefined) throw usage(`--state must be one of ${taskStates.join(', ')}, not '${word}'.`);
    return state;
  });
  const kind = readText(flags, 'kind');
  requireKind(kind, `--kind ${kind}`);
  const service = readText(flags, 'service');
  const since = readSince(readText(flags, 'since'), now);
  return (entry) =>
    (states.length === 0 || states.includes(describeState(entry.state))) &&
    isKind(entry, kind) &&
    (service === undefined || entry.service.includes(service)) &&
    Date.parse(entry.created_at) >= since;
}

/** Reads `24h` or a date as milliseconds since 1970. */
function readSince(text: string | undefined, now: number): number {
  if (text === undefined) return 0;
  const date = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? now - durationMs(text, '--since') : date;
}

async function showEntry(context: Context): Promise<void> {
  const entry = requireEntry(context, context.args.task_id as string);
  const { output } = context;
  if (!output.isTable) return output.answer(entry);
  // What this program keeps for itself.
  const { owner, closed, key, ...shown } = entry as KeyEntry;
  await output.answer(shown);
}

/** @throws Failure if the task is not in the ledger */
export function requireEntry(context: Needs<'ledger' | 'services'>, id: string): Entry {
  if (id === '') throw usage('<task_id> is required.');
  const entry = findEntry(context, id);
  if (entry) return entry;
  throw new Failure(`Task ${id} was not started from here.`, {
    code: 'not_found',
    hint: say`List tasks with \`${regen('task list')}\`. If it was started elsewhere, use \`${regen('image status', '<task_id>')}\`, or for a video: ${regen('video status', '<task_id>')}`,
  });
}

async function forgetEntries(context: Context): Promise<void> {
  const { args, command, flags, ledger, output } = context;
  const ids = (args.task_id ?? []) as readonly string[];
  if (ids.length === 0) throw usage('<task_id> is required.', say`See: ${regen('task list')}`);
  const entries = ids.map((id) => requireEntry(context, id));
  const open = entries.filter(({ task_id, state }) => task_id !== undefined && !findEnd(state));
  if (open.length > 0 && !flags.force) {
    const names = open.map(({ task_id }) => task_id).join(', ');
    throw usage(
      `${open.length === 1 ? 'A task has' : `${open.length} tasks have`} not ended: ${names}.`,
      say`Wait for it with \`${regen('task wait')}\`, or pass --force to forget it anyway.`,
    );
  }
  const removed = entries.map(({ id, task_id }) => task_id ?? id);
  const tasks = removed.length === 1 ? `task ${removed[0]}` : `${removed.length} tasks`;
  await confirmDestruction(context, { tasks });
  for (const { id } of entries) ledger.remove(id);
  if (output.mode.json) await output.answer(removed);
  else for (const id of removed) await output.line(oneLine(id));
  await output.note(`${reportDestruction(command, { tasks })}.`);
}
