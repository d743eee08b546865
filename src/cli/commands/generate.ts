import { getTaskFacts } from '../../contract/index.js';
import { regen, say, type Text } from '../../contract/schema/message.js';
import type { EntryChoice, Ledger } from '../../flows/tasks/ledger.js';
import { findEarlierRun, type Job, startTask } from '../../flows/tasks/start-task.js';
import type { FlagValues, ParsedCommand } from '../command/command.js';
import { printRequest, printRequests } from '../command/dry-run.js';
import type { Needs } from '../connect/context.js';
import { describeResume, finishTask, planFinish, type TaskOutcome } from '../generation/finish-task.js';
import { lacksVideo, parseSource, planJobs } from '../generation/plan.js';
import { previewJob } from '../generation/preview.js';
import { checkPrice, findPrice, NO_EARLIER_RUN, previewPrice, requireLimit } from '../generation/price.js';
import { runAll, shortenPath, Watch } from '../generation/run-tasks.js';
import { exitCodes, usage } from '../terminal/failure.js';
import { readBytes } from '../terminal/stdin.js';

type Context = ParsedCommand &
  Needs<'system' | 'output' | 'interruption' | 'signal' | 'settings' | 'ledger' | 'services' | 'mayAsk'> &
  Needs<'folders' | 'connect'>;

export async function run(context: Context): Promise<number | undefined> {
  const jobs = await planJobs(await askForInputs(context), context);
  if (!context.flags['dry-run']) return runJobs(context, jobs);
  const watch = new Watch(context.output, jobs.length);
  openResults(context, watch, jobs);
  const [job] = jobs;
  if (job && jobs.length === 1) await printRequest(context, await previewJob(context.system, job));
  else await printRequests(context, jobs, (one) => previewJob(context.system, one));
  const isNew = chooseEntries(context.flags) === 'new';
  const earlier = isNew ? NO_EARLIER_RUN : await findEarlierRun(toStartContext(context, watch), jobs);
  requireLimit(context.flags, jobs, await previewPrice(context, jobs, earlier));
  return undefined;
}

/** Asks for the images, the prompt or the video that a command cannot do without. */
async function askForInputs(context: Context): Promise<ParsedCommand> {
  const { command, system, mayAsk } = context;
  const args = { ...context.args };
  const flags = { ...context.flags };
  if (!mayAsk || flags.body !== undefined || args.task_id !== undefined) return context;
  const { input } = system.prompts;
  const isMissing = (name: string) =>
    command.arguments.some((argument) => argument.name === name) && [args[name] ?? []].flat().length === 0;
  const askImage = async (label: string, isOptional = false) => {
    const findProblem = (text: string) => {
      if ((isOptional && text === '') || text.startsWith('@')) return undefined;
      const source = parseSource(text, system.cwd);
      return 'problem' in source ? String(source.problem) : undefined;
    };
    const range = isOptional ? 'a file or a URL, or empty for none' : 'a file or a URL';
    const answer = (await input(`${label} (${range}):`, undefined, findProblem)).trim();
    return answer === '' ? [] : [answer];
  };
  if (isMissing('images'))
    args.images = [...(await askImage('Start frame')), ...(await askImage('End frame', true))];
  if (isMissing('image')) args.image = await askImage('Image');
  if (isMissing('reference_image') && flags['reference-image'] === undefined)
    args.reference_image = await askImage('Image to take the style from');
  if (isMissing('prompt') && flags.prompt === undefined && flags.images === undefined)
    args.prompt = await input('Describe the video:', undefined, (text) =>
      text === '' ? 'must not be empty' : undefined,
    );
  if (lacksVideo(command, flags))
    flags['from-task'] = await input('Video to extend (a task, or a file that one saved):', '@last:video');
  return { command, args, flags };
}

/** @throws Failure if the results cannot be waited for or saved as the flags say */
function openResults(
  context: Context,
  watch: Watch,
  jobs: readonly Job[],
  choice: EntryChoice = chooseEntries(context.flags),
) {
  refuseUnused(context.flags);
  const offPeak = jobs.some(({ body }) => body.off_peak === true);
  const awaiting = planFinish(context, watch, { count: jobs.length, offPeak, resumed: true });
  awaiting.destination?.check(
    jobs.map(({ name }) => name),
    (path) => choice === 'unfinished' && context.ledger.isUnfinishedAt(path),
  );
  return awaiting;
}

const chooseEntries = ({ again }: FlagValues): EntryChoice => (again === true ? 'new' : 'unfinished');

function toStartContext({ services, ledger, signal, system, output }: Context, watch: Watch) {
  return {
    ...{ services, ledger, signal, target: services.target },
    readStdin: () => readBytes(system.stdin),
    say: createSayOnce(watch),
    warn: (text: string) => output.warn(text),
  };
}

/** Starts tasks and, without `--no-wait`, waits for them and saves their results. */
export async function runJobs(
  context: Context,
  jobs: readonly Job[],
  choice: EntryChoice = chooseEntries(context.flags),
): Promise<number> {
  const { services, ledger, output, system } = context;
  const watch = new Watch(output, jobs.length);
  const awaiting = openResults(context, watch, jobs, choice);
  const { destination } = awaiting;
  const entries = new Set<string>();
  const starting = toStartContext(context, watch);
  const resume = new Resume(context, jobs.length, () => describeRepeat(choice, context.flags, entries));
  // Connects before the first job, so that a problem of all jobs is reported once.
  const prices = await checkPrice(context, jobs, async () =>
    choice === 'unfinished' ? findEarlierRun(starting, jobs) : NO_EARLIER_RUN,
  );

  const run = async (job: Job, number: number): Promise<TaskOutcome> => {
    const place = destination?.at(number);
    const { task, seen } = await startTask(
      starting,
      { ...job, price: findPrice(prices, job) },
      {
        choice,
        output: place?.firstPath(job.name),
        onEntry: (id) => {
          entries.add(id);
          resume.tell();
        },
      },
    ).catch((error) => {
      watch.state(job.name, 'FAILED');
      throw error;
    });
    resume.add(task.id);
    await watch.started(task.id, jobs.length > 1 ? job.name : undefined);
    if (context.flags.wait === false) return { lines: [task.id], answer: seen.sent };
    watch.state(task.id, seen.state);
    if (jobs.length === 1) await watch.stage(describeWork(jobs));
    const outcome = await finishTask({ ...awaiting, destination: place }, task, seen);
    // It is reported here; the same command starts another one.
    if (outcome.failure?.facts.code === 'task_failed' && task.entry) await closeEntry(ledger, task.entry.id);
    resume.remove(task.id);
    return outcome;
  };

  try {
    await watch.stage(jobs.length === 1 ? 'Starting the task' : describeWork(jobs));
    const items = jobs.map((job, at) => ({
      label: chooseLabel(job, system.cwd),
      run: () => run(job, at + 1),
    }));
    const exit = await runAll(context, watch, items);
    // Until all of it is done, the same command resumes what it started instead of paying again.
    if (exit === exitCodes.someFailed) await output.note(RETRY);
    if (exit !== exitCodes.done) return exit;
    for (const id of entries) await closeEntry(ledger, id);
    const isUnsaved = context.flags.output === undefined && context.flags.wait !== false;
    if (isUnsaved && jobs.length === 1 && watch.isSeen)
      await output.note(say`Save it with: ${regen('task download', '@last -o <file>')}`);
    await services.announce();
    return exit;
  } finally {
    watch.end();
  }
}

function chooseLabel({ images, name }: Job, cwd: string): string {
  const [source] = Object.values(images).flat();
  return source?.kind === 'file' ? shortenPath(source.path, cwd) : name;
}

const VERBS: Readonly<Record<string, string>> = {
  'image.relight': 'Relighting',
  'image.styleTransfer': 'Styling',
  'image.skinEnhancer': 'Enhancing',
  'image.upscaler': 'Upscaling',
};

/** Such as `Relighting 6 images`. */
function describeWork(jobs: readonly Job[]): string {
  const [{ operation }] = jobs as [Job];
  const { kind } = getTaskFacts(operation);
  return `${VERBS[operation] ?? 'Rendering'} ${jobs.length === 1 ? `the ${kind}` : `${jobs.length} ${kind}s`}`;
}

const RETRY = 'Run the same command again to retry what failed; the rest is not paid for again.';

const closeEntry = (ledger: Ledger, id: string) => ledger.change(id, { closed: true });

/** Several tasks may say the same. */
function createSayOnce(watch: Watch): (text: string) => Promise<void> {
  const said = new Set<string>();
  return async (text) => {
    if (said.has(text)) return;
    said.add(text);
    await watch.say(text);
  };
}

/** Refuses flags that have no effect with `--no-wait`. */
function refuseUnused(flags: FlagValues): void {
  if (flags.wait !== false) return;
  const unused = ['output', 'force', 'receipt', 'open', 'timeout', 'interval'].find(
    (flag) => flags[flag] !== undefined,
  );
  if (!unused) return;
  throw usage(
    `--no-wait and --${unused} cannot be used together.`,
    say`Pass it to \`${regen('task wait')}\` or \`${regen('task download')}\` instead.`,
  );
}

/**
 * How to continue while a request may have had no response. A command that always starts new tasks would pay again.
 * @param entries the local ids of what was sent
 */
function describeRepeat(choice: EntryChoice, { again }: FlagValues, [entry]: Iterable<string>) {
  if (choice === 'new' && !again)
    return entry && say`Repeat it with the same idempotency key: ${regen('task rerun', entry)}`;
  return `Run the same command ${again ? 'without --again' : 'again'} to continue; started tasks are not started twice.`;
}

/** Keeps the hint of an interruption up to date: the command that resumes the unfinished tasks. */
export class Resume {
  readonly #ids = new Set<string>();
  #unsent: number;

  /**
   * @param unsent how many tasks this command starts
   * @param describeRepeat how to continue while some are not started
   */
  constructor(
    readonly context: Needs<'interruption' | 'flags' | 'system'>,
    unsent = 0,
    readonly describeRepeat: () => Text | undefined = () => undefined,
  ) {
    this.#unsent = unsent;
    this.tell();
  }

  add(id: string): void {
    this.#ids.add(id);
    this.#unsent -= 1;
    this.tell();
  }

  remove(id: string): void {
    this.#ids.delete(id);
    this.tell();
  }

  tell(): void {
    const { interruption, flags, system } = this.context;
    interruption.hasBegun = this.#ids.size > 0;
    interruption.hint =
      this.#unsent > 0 || this.#ids.size === 0
        ? this.describeRepeat()
        : say`The work continues. ${describeResume([...this.#ids], { flags, isInProgram: system.env.REGEN_KEY_NAME !== undefined })}`;
  }
}
