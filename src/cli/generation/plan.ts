import { getOperation, getTaskFacts } from '../../contract/index.js';
import type { Operation } from '../../contract/operation.js';
import { imageFieldsOf } from '../../contract/schema/image-rules.js';
import { readBodyFlag } from '../command/body.js';
import type { ArgumentValues, Command, FlagValues, ParsedCommand } from '../command/command.js';
import {
  buildRequest,
  type FailureDetail,
  findRequestProblems,
  formatFieldName,
  toInvalidFailure,
} from '../command/request.js';
import { type ServiceConnector, STANDARD_PORT } from '../connect/services.js';
import { usage } from '../terminal/failure.js';
import type { System } from '../terminal/system.js';
import { chooseName, type Images, parseSource, type Source } from './images.js';

/** One task to be started; its images are not read yet. */
export interface Job {
  /** Such as `image.relight`. */
  readonly operation: string;
  /** The body without its images. */
  readonly body: Readonly<Record<string, unknown>>;
  readonly images: Images;
  /** What files made by it are called after. */
  readonly name: string;
  /** The task whose video is extended; it is not looked up yet. */
  readonly fromTask?: string;
}

export interface PlanContext {
  readonly system: Pick<System, 'cwd' | 'stdin'>;
  readonly services: ServiceConnector;
}

/**
 * The tasks that a command line asks for: one for each image.
 * @throws Failure with everything that is wrong with any of them
 */
export async function planJobs(parsed: ParsedCommand, context: PlanContext): Promise<Job[]> {
  const { command, flags } = parsed;
  const operation = getOperation(command.operation as string);
  const body = await readBodyFlag({ flags, system: context.system });
  const problems = new Map<string, FailureDetail>();
  const judge = (found: readonly FailureDetail[]) => {
    for (const one of found) problems.set(`${one.path} ${one.message}`, one);
  };
  const jobs = argumentsOfEach(parsed).map((args) =>
    planJob({ command, flags, args }, context, operation, body, judge),
  );
  const sources = jobs.flatMap(({ images }) => Object.values(images).flat());
  const piped = sources.filter(({ kind }) => kind === 'stdin');
  if (piped.length > 1) judge([{ path: '-', message: 'may stand for one image only' }]);
  if (problems.size > 0) throw toInvalidFailure([...problems.values()]);
  return jobs;
}

/**
 * Of many images, one task each; with two images that are not a list, the second is the reference. The images of a
 * video belong together.
 */
function argumentsOfEach({ command, args, flags }: ParsedCommand): ArgumentValues[] {
  if (!command.arguments.some(({ name }) => name === 'image')) return [withoutEmpty(args)];
  const { image, reference_image } = args;
  if (!Array.isArray(reference_image)) {
    const images = (image ?? []) as readonly string[];
    return images.length > 0 ? images.map((one) => ({ image: one })) : [{}];
  }
  const rest = reference_image as readonly string[];
  if (flags['reference-image'] !== undefined)
    return [image as string | undefined, ...rest].map((one) => ({ image: one }));
  if (rest.length > 1) {
    throw usage(
      'Of several images it is not clear which is the reference.',
      'Name it with --reference-image; all others are then styled.',
    );
  }
  return [{ image: image as string | undefined, reference_image: rest[0] }];
}

/** A list of which nothing was typed is absent, rather than empty. */
function withoutEmpty(args: ArgumentValues): ArgumentValues {
  return Object.fromEntries(Object.entries(args).filter(([, value]) => value?.length !== 0));
}

function planJob(
  { command, flags, args }: ParsedCommand,
  { system, services }: PlanContext,
  operation: Operation,
  given: unknown,
  judge: (problems: readonly FailureDetail[]) => void,
): Job {
  const request = buildRequest(command, args, flags, given);
  const bodyGiven = given !== undefined;
  const fields = imageFieldsOf(operation.body as NonNullable<Operation['body']>);
  const images: Record<string, Source | Source[]> = {};
  const body = { ...(request.body as Record<string, unknown> | undefined) };
  const fromTask = flags['from-task'] as string | undefined;
  const unnamed = !bodyGiven && isUnnamed(command, flags, body);
  const sent: Record<string, unknown> = { ...((fromTask !== undefined || unnamed) && STAND_IN), ...body };
  judge(unnamed ? [unnamedProblem] : namedTwice(flags, body));
  for (const field of fields) {
    const value = body[field];
    const texts = [value].flat();
    // What is no image in form at all is judged with the rest.
    if (!texts.every((text) => typeof text === 'string') || value === undefined) continue;
    const sources = texts.map((text) => (bodyGiven ? inBody(text) : parseSource(text, system.cwd)));
    const path = formatFieldName(['body', field], command, false, args);
    judge(sources.flatMap((source) => ('problem' in source ? [{ path, message: source.problem }] : [])));
    const found = sources.filter((source) => 'kind' in source);
    if (Array.isArray(value)) images[field] = found;
    else if (found[0]) images[field] = found[0];
    delete body[field];
    if (bodyGiven) continue;
    // What only the reading of a file tells is not needed to judge the rest.
    const standIns = sources.map((source) => ('url' in source ? source.url : 'AAAA'));
    sent[field] = Array.isArray(value) ? standIns : standIns[0];
  }
  const whole = bodyGiven && !isObject(given) ? given : sent;
  judge(
    findRequestProblems(
      operation,
      command,
      { ...request, body: whole },
      {
        bodyGiven,
        args,
        service: services.target.baseUrl ?? `http://127.0.0.1:${STANDARD_PORT}`,
      },
    ),
  );
  const called = command.operation as string;
  return {
    operation: called,
    body,
    images,
    name: chooseName(images, getTaskFacts(called).kind),
    ...(fromTask !== undefined && { fromTask }),
  };
}

/** In a whole body an image stands as the interface has it: Base64 without a mark of its own. */
function inBody(text: string): Source {
  if (/^https?:/i.test(text)) return { kind: 'url', url: text };
  return { kind: 'data', base64: text.startsWith('data:') ? text.slice(text.indexOf(',') + 1) : text };
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Keeps a creation's place where a request is judged before anything is sent. */
const STAND_IN = { video_creation_id: '1', video_url: 'https://video.invalid/' };

/** Said in place of what the interface says, which knows of no tasks. */
const unnamedProblem: FailureDetail = {
  path: '--from-task',
  message: 'is required, or --video-creation-id together with --video-url',
};

/** Whether a command that makes a video longer names none. */
function isUnnamed({ flags: known }: Command, flags: FlagValues, body: object): boolean {
  const takesTask = known.some(({ name }) => name === 'from-task');
  return takesTask && flags['from-task'] === undefined && creationIn(body).length === 0;
}

/** What names the video besides `--from-task`. */
function namedTwice(flags: FlagValues, body: object): FailureDetail[] {
  if (flags['from-task'] === undefined) return [];
  return creationIn(body).map((field) => ({
    path: '--from-task',
    message: `gives the ${field} already; leave that out`,
  }));
}

function creationIn(body: object): string[] {
  return Object.keys(STAND_IN).filter((field) => field in body);
}
