import { dirname, relative } from 'node:path';
import { joinTexts, regen, say, type Text } from '../../contract/schema/message.js';
import { getPromisedType } from '../../disk/file-type.js';
import type { Saved } from '../../flows/save-file.js';
import type { Target } from '../../flows/tasks/task.js';
import { describeState } from '../../flows/tasks/task-state.js';
import { formatBytes } from '../../wire/format-bytes.js';
import { combineExits, runInParallel } from '../command/parallel.js';
import { toFailure } from '../command/to-failure.js';
import type { Needs } from '../connect/context.js';
import { openBrowser } from '../sign-in/opener.js';
import { exitCodes, Failure } from '../terminal/failure.js';
import type { Output } from '../terminal/output.js';
import { drawPicture, formatLink } from '../terminal/picture.js';
import { Progress } from '../terminal/progress.js';
import { oneLine, withoutPeriod } from '../terminal/text.js';
import { NOT_ANSWERING, type TaskOutcome } from './finish-task.js';

/** One task of a command. Its label is printed if there are several. */
export interface TaskItem {
  readonly label: string;
  /** Its service, if it is not that of the command. */
  readonly target?: Target | undefined;
  run(): Promise<TaskOutcome>;
}

// Decided: a command runs four tasks in parallel; more would only queue at the service.
const CONCURRENCY = 4;

/**
 * Runs items in parallel, and prints their outcomes in order.
 * @returns the combined exit code
 */
export async function runAll(
  context: Needs<'command' | 'args' | 'flags' | 'system' | 'output' | 'interruption' | 'signal' | 'services'>,
  watch: Watch,
  items: readonly TaskItem[],
): Promise<number> {
  const { output } = context;
  const outcomes: TaskOutcome[] = [];
  let printed = 0;
  let printing = Promise.resolve();
  const printReady = async () => {
    for (let outcome = outcomes[printed]; outcome; outcome = outcomes[printed]) {
      // What is wrong with the one image is said with its name, too.
      const isNamed = items.length > 1 || (outcome.failure && findImageProblem(outcome.failure));
      const label = isNamed ? items[printed]?.label : undefined;
      printed += 1;
      await printOutcome(context, watch, outcome, label, items.length);
    }
  };
  await runInParallel(items.entries(), CONCURRENCY, async ([at, item]) => {
    outcomes[at] = await runOne(item, context);
    printing = printing.then(printReady);
    await printing;
  });
  watch.end();
  if (items.length > 1) await output.note(formatSummary(context, watch, items, outcomes));
  if (context.flags.open) {
    // What was not saved is what the service answered, which could name a file of this machine.
    const isOpened = (line: string) => context.flags.output !== undefined || /^https?:\/\//i.test(line);
    const opened = outcomes.flatMap(({ lines }) => lines).filter(isOpened);
    for (const line of opened) openBrowser(context.system, line);
  }
  if (output.mode.json) {
    const answers = outcomes.map(
      ({ answer, failure }, at) =>
        answer ?? (failure ? toErrorAnswer(nameImage(items[at]?.label ?? '', failure)) : null),
    );
    // Of several tasks each has its place. What failed with one is on stderr, as with any other command.
    if (items.length !== 1) await output.answer(answers);
    else if (outcomes[0]?.answer !== undefined) await output.answer(outcomes[0].answer);
  }
  return combineExits(outcomes.map(({ failure }) => failure?.facts.exit ?? exitCodes.done));
}

/** More pictures than these would fill the screen. */
const MAX_PICTURES = 4;

async function printOutcome(
  { output, system: { env, cwd, stdout } }: Needs<'system' | 'output'>,
  watch: Watch,
  { lines, bytes: result, failure }: TaskOutcome,
  label: string | undefined,
  count: number,
): Promise<void> {
  if (result) await output.write(result);
  for (const line of output.mode.json ? [] : lines) {
    const bytes = watch.files.get(line);
    if (bytes === undefined) {
      await output.line(oneLine(line));
      continue;
    }
    const shown = oneLine(shortenPath(line, cwd));
    const size = `  ${formatBytes(bytes)}`;
    // A terminal without a size has 0 columns.
    const { wrapText } = await import('../terminal/width.js');
    const fits = wrapText(shown + size, stdout.columns || Number.POSITIVE_INFINITY).length === 1;
    await output.line(formatLink(env, shown, line) + (fits ? size : ''));
    const picture = count <= MAX_PICTURES && !output.mode.quiet ? drawPicture(env, line, bytes) : undefined;
    if (picture) await output.line(picture);
  }
  if (!failure) return;
  await output.failure(label === undefined ? failure : nameImage(label, failure));
}

/** A path that leads upwards is longer than the whole one. */
export function shortenPath(path: string, cwd: string): string {
  const near = relative(cwd, path);
  return near.startsWith('..') ? path : near;
}

async function runOne(
  item: TaskItem,
  context: Needs<'command' | 'args' | 'flags' | 'interruption' | 'signal' | 'services'>,
): Promise<TaskOutcome> {
  const { signal } = context;
  signal.throwIfAborted();
  try {
    return await item.run();
  } catch (error) {
    signal.throwIfAborted();
    return { lines: [], failure: nameService(toFailure(error, context, context.interruption), item) };
  }
}

/** A sign-in without the address of a task's service would be one to another service. */
function nameService(failure: Failure, { target }: TaskItem): Failure {
  const { facts, text } = failure;
  if (facts.code !== 'unauthenticated' || target?.source !== 'ledger' || !target.baseUrl) return failure;
  const place = target.profile === undefined ? `--base-url ${target.baseUrl}` : `--profile ${target.profile}`;
  return new Failure(text, {
    ...facts,
    hint: say`Sign in to the service of the task with: ${regen('auth login', place)}`,
  });
}

function toErrorAnswer({ message, facts: { code, status, requestId: request_id } }: Failure) {
  return { error: { code, message, status, request_id } };
}

/** Says which of several images a failure is about. */
export function nameImage(label: string, failure: Failure): Failure {
  const { text, facts } = failure;
  const problem = findImageProblem(failure);
  return new Failure(problem ? say`${label} ${problem}.` : say`${label}: ${text}`, facts);
}

/** What is wrong with the image that a failure is about. */
function findImageProblem({ facts: { details = [] } }: Failure): Text | undefined {
  const [first] = details;
  return details.length === 1 && first?.path === '<image>' ? first.message : undefined;
}

/** Such as `5 of 6 saved in relit/ (31 s); photo-4.jpg failed: it cannot be decoded`. */
function formatSummary(
  { flags, system: { cwd } }: Needs<'flags' | 'system'>,
  watch: Watch,
  items: readonly TaskItem[],
  outcomes: readonly TaskOutcome[],
): Text {
  const failed = outcomes.flatMap(({ failure }, at) =>
    failure ? [[items[at]?.label, failure] as const] : [],
  );
  const folders = new Set(outcomes.flatMap(({ lines }) => lines.map((line) => relative(cwd, dirname(line)))));
  const [folder] = folders;
  const isSaved = flags.output !== undefined;
  const place = isSaved && folders.size === 1 && folder ? ` in ${folder}/` : '';
  const verb = flags.wait === false ? 'started' : isSaved ? 'saved' : 'done';
  const whole = `${items.length - failed.length} of ${items.length} ${verb}${place} (${watch.formatElapsed()})`;
  if (failed.length === 0) return `${whole}.`;
  const reasons = failed.slice(0, MAX_REASONS).map(([label, failure]) => {
    const problem = findImageProblem(failure);
    const reason = problem ? say`it ${problem}` : withoutPeriod(failure.facts.reason ?? failure.message);
    return say`${label} failed: ${reason}`;
  });
  const more = failed.length > MAX_REASONS ? [`${failed.length - MAX_REASONS} more failed`] : [];
  return say`${joinTexts([whole, ...reasons, ...more], '; ')}.`;
}

const MAX_REASONS = 3;

/** Warns of the first of the saved files of a command whose extension promises another type. */
export function createExtensionCheck(output: Pick<Output, 'warn'>): (saved: Saved) => Promise<void> {
  let hasWarned = false;
  return async ({ path, mediaType }) => {
    const promised = getPromisedType(path);
    if (hasWarned || !mediaType || !promised || mediaType === promised) return;
    hasWarned = true;
    await output.warn(
      `${path} contains ${mediaType}, not ${promised}. For the right extension, write {ext} in the output path.`,
    );
  };
}

/** Shows the progress of the tasks of a command: a spinner with their states and the elapsed time. */
export class Watch {
  readonly #progress: Progress;
  readonly #states = new Map<string, string>();
  readonly #begun: number;
  readonly #checkExtension: (saved: Saved) => Promise<void>;
  #timer: NodeJS.Timeout | undefined;
  #wasQueued = false;
  /** Saved files and their sizes, which the answer shows on a terminal. */
  readonly files = new Map<string, number>();

  constructor(
    readonly output: Output,
    readonly total = 1,
  ) {
    this.#progress = new Progress(output);
    this.#begun = output.system.now();
    this.#checkExtension = createExtensionCheck(output);
  }

  async stage(text: string): Promise<void> {
    await this.#progress.stage(text);
    this.#timer ??= setInterval(() => this.#tick(), 1000).unref();
    this.#tick();
  }

  state(id: string, state: string): void {
    this.#states.set(id, state);
    this.#tick();
  }

  /** Reports a saved file. A terminal shows it with the answer. */
  async saved(saved: Saved): Promise<void> {
    const { path, bytes } = saved;
    await this.#checkExtension(saved);
    if (this.isSeen) this.files.set(path, bytes);
    else await this.say(`Saved ${path} (${formatBytes(bytes)}).`);
  }

  /** Reports a started task. On a terminal `regen task list` has it, and Ctrl-C prints its id. */
  async started(id: string, name: string | undefined): Promise<void> {
    if (!this.isSeen) await this.say(`Task ${id}${name === undefined ? '' : ` of ${name}`}`);
  }

  get isSeen(): boolean {
    const { stdout, stderr } = this.output.system;
    return stdout.isTTY === true && stderr.isTTY === true && !this.output.mode.json;
  }

  say(text: string): Promise<void> {
    return this.output.note(text);
  }

  end(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#progress.end();
  }

  #tick(): void {
    this.#progress.update(`(${[...this.#countStates(), this.formatElapsed()].join(', ')})`);
    const states = [...this.#states.values()];
    const isQueued = states.length > 0 && states.every((state) => formatState(state) === 'queued');
    if (this.#wasQueued || !isQueued || this.output.system.now() - this.#begun < QUEUED_MS) return;
    this.#wasQueued = true;
    // A spinner shows the states.
    if (!this.#progress.isShown)
      void this.say(
        `Still queued after ${this.formatElapsed()}; the service has not begun ${this.total === 1 ? 'the task' : 'any of the tasks'}.`,
      );
  }

  formatElapsed(): string {
    const seconds = Math.round((this.output.system.now() - this.#begun) / 1000);
    return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  }

  #countStates(): string[] {
    if (this.total === 1) return [...this.#states.values()].map(formatState);
    const counts = new Map(COUNTED.map((word) => [word, 0]));
    for (const state of this.#states.values()) {
      const word = formatState(state);
      counts.set(word, (counts.get(word) ?? 0) + 1);
    }
    // Those that were not sent yet are queued here.
    const waiting = this.total - this.#states.size;
    counts.set('queued', (counts.get('queued') ?? 0) + waiting);
    const shown = [...counts].filter(([word, count]) => word === 'done' || count > 0);
    return shown.map(([word, count]) => `${count}${word === 'done' ? ` of ${this.total}` : ''} ${word}`);
  }
}

/** How long a task may be queued before a log says so. */
const QUEUED_MS = 10_000;

const COUNTED: readonly string[] = ['done', 'failed', 'running', 'queued'];

function formatState(state: string): string {
  return state === NOT_ANSWERING ? state : describeState(state);
}
