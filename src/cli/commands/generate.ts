import type { Job } from '../../flows/tasks/start-task.js';
import type { ParsedCommand } from '../command/command.js';
import { type PrintedRequest, printRequest, printRequests } from '../command/dry-run.js';
import { lacksVideo, parseSource, planJobs } from '../generation/plan.js';
import { previewJob } from '../generation/preview.js';
import { runJobs } from '../generation/run-jobs.js';
import type { CommandContext } from './context.js';

/** Starts a task for each image, waits for it, and saves its results. */
export async function run(context: CommandContext): Promise<number | undefined> {
  const jobs = await planJobs(await askForInputs(context), context);
  if (!context.flags['dry-run']) return runJobs(context, jobs);
  const [job] = jobs;
  if (job && jobs.length === 1) await printRequest(context, await previewJob(context.system, job));
  else await printRequests(context, previewJobs(context.system, jobs));
  return undefined;
}

type StandardInput = Pick<CommandContext['system'], 'stdin'>;

async function* previewJobs(system: StandardInput, jobs: readonly Job[]): AsyncGenerator<PrintedRequest> {
  for (const job of jobs) yield await previewJob(system, job);
}

/** Asks for the images, the prompt or the video that a command cannot do without. */
async function askForInputs(context: CommandContext): Promise<ParsedCommand> {
  const { command, system, mayAsk } = context;
  const args = { ...context.args };
  const flags = { ...context.flags };
  if (!mayAsk || flags.body !== undefined) return context;
  const { input } = system.prompts;
  const isMissing = (name: string) =>
    command.arguments.some((argument) => argument.name === name) && [args[name] ?? []].flat().length === 0;
  const askImage = async (label: string, isOptional = false) => {
    const findProblem = (text: string) => {
      if ((isOptional && text === '') || text.startsWith('@')) return undefined;
      const source = parseSource(text, system.cwd);
      return 'problem' in source ? source.problem : undefined;
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
