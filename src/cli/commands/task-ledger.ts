import { basename } from 'node:path';
import { regen, say } from '../../contract/schema/message.js';
import type { Entry } from '../../flows/tasks/ledger.js';
import { findEntry, isKind } from '../../flows/tasks/task.js';
import { describeState, findEnd } from '../../flows/tasks/task-state.js';
import { type FlagValues, readNumber, readText } from '../command/command.js';
import { confirmDestruction, reportDestruction } from '../command/confirm.js';
import type { CommandContext } from '../connect/context.js';
import { shortenIds } from '../terminal/cells.js';
import { durationMs } from '../terminal/duration.js';
import { Failure, usage } from '../terminal/failure.js';
import { formatCount, oneLine } from '../terminal/text.js';

export const run = { list: listEntries, show: showEntry, forget: forgetEntries };

/** Lists the ledger. A terminal shows how a person knows a task: the beginning of its id, its image and its result. */
async function listEntries({ command, flags, ledger, output, system }: CommandContext): Promise<void> {
  const isWanted = readFilter(flags, system.now());
  const limit = readNumber(flags, 'limit', { min: 1 });
  const all = [...ledger.entries()];
  const entries = all.filter(isWanted).slice(0, limit);
  if (!system.stdout.isTTY || output.mode.json || output.mode.ndjson) {
    await output.answer(entries, command.shape);
  } else {
    const ids = shortenIds(all.flatMap(({ task_id = [] }) => task_id));
    const toRow = (entry: Entry) => ({
      ...entry,
      task: (entry.task_id && ids.get(entry.task_id)) ?? entry.task_id ?? entry.id,
      state: entry.state && describeState(entry.state),
      result: entry.saved?.map((path) => basename(path)),
    });
    const columns = ['task', 'operation', 'state', 'created_at', 'name', 'credits', 'result', 'service'];
    await output.answer(entries.map(toRow), { ...command.shape, columns });
  }
  const spent = entries.reduce((sum, { credits = 0 }) => sum + credits, 0);
  if (entries.length > 0) {
    const count = formatCount(entries.length, 'task');
    await output.note(spent > 0 ? `${count}, ${spent} credits.` : `${count}.`);
  }
}

function readFilter(flags: FlagValues, now: number): (entry: Entry) => boolean {
  const states = (flags.state ?? []) as readonly string[];
  const wrong = states.find((state) => !STATES.includes(state));
  if (wrong !== undefined) throw usage(`--state must be one of ${STATES.join(', ')}, not '${wrong}'.`);
  const kind = readText(flags, 'kind');
  const service = readText(flags, 'service');
  const since = readSince(readText(flags, 'since'), now);
  return (entry) =>
    (states.length === 0 || states.includes(describeState(entry.state))) &&
    isKind(entry, kind) &&
    (service === undefined || entry.service.includes(service)) &&
    Date.parse(entry.created_at) >= since;
}

const STATES: readonly string[] = ['queued', 'running', 'done', 'failed', 'gone'];

/** Reads `24h` or a date as milliseconds since 1970. */
function readSince(text: string | undefined, now: number): number {
  if (text === undefined) return 0;
  const date = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? now - durationMs(text, '--since') : date;
}

async function showEntry(context: CommandContext): Promise<void> {
  await context.output.answer(requireEntry(context, context.args.task_id as string));
}

/** @throws Failure if the task is not in the ledger */
export function requireEntry(context: CommandContext, id: string): Entry {
  if (id === '') throw usage('<task_id> is required.');
  const entry = findEntry(context, id);
  if (entry) return entry;
  throw new Failure(`Task ${id} was not started from here.`, {
    code: 'not_found',
    hint: say`List tasks with: ${regen('task list')}. For a task that was started elsewhere: ${regen('image status', '<task_id>')}`,
  });
}

async function forgetEntries(context: CommandContext): Promise<void> {
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
