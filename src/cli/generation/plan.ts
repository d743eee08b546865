import { statSync } from 'node:fs';
import { basename, extname, join, resolve } from 'node:path';
import type { WireFormat } from '../../client/wire-format.js';
import { getTaskFacts } from '../../contract/index.js';
import { isRecord } from '../../contract/json.js';
import type { Operation, TaskFacts } from '../../contract/operation.js';
import { findImageFields } from '../../contract/schema/image-rules.js';
import { regen, say, type Text } from '../../contract/schema/message.js';
import { lacksImage } from '../../disk/file-type.js';
import { isShellPipe, MAX_GIVEN_BYTES } from '../../disk/folder-file.js';
import type { ImageSource, Images, Job } from '../../flows/tasks/start-task.js';
import { findEntry } from '../../flows/tasks/task.js';
import { STANDARD_PORT } from '../../wire/standard-port.js';
import { buildRequest, readBodyFlag } from '../command/build-request.js';
import type { ArgumentValues, Command, Flag, FlagValues, ParsedCommand } from '../command/command.js';
import { findRequestProblems, formatFieldName, toInvalidFailure } from '../command/request.js';
import type { Needs } from '../connect/context.js';
import { type FailureDetail, usage } from '../terminal/failure.js';
import { shellWord } from '../terminal/text.js';

export type PlanContext = Needs<'system' | 'services' | 'output' | 'ledger'>;

/**
 * Plans the tasks of a command line: one for each image.
 * @throws Failure with the problems of all of them
 */
export async function planJobs(given: ParsedCommand, context: PlanContext): Promise<Job[]> {
  const parsed = useVideoArgument(given);
  const { command, flags } = parsed;
  const body = await readBodyFlag({ flags, system: context.system });
  const problems = new Map<string, FailureDetail>();
  const addProblems = (found: readonly FailureDetail[]) => {
    for (const one of found) problems.set(`${one.path} ${one.message}`, one);
  };
  const format = await context.services.findFormat();
  const operations = await format.declare(command.operation as string);
  const warnings = new Map<string, Text>();
  const report = {
    addProblems,
    warn: (found: readonly FailureDetail[]) => {
      for (const { path, message } of found) warnings.set(`${path} ${message}`, say`${path} ${message}`);
    },
  };
  const jobs = splitArguments(parsed).map((args) =>
    planJob({ command, flags, args }, { ...context, format }, operations, body, report),
  );
  const sources = jobs.flatMap(({ images }) => Object.values(images).flat());
  const piped = sources.filter(({ kind }) => kind === 'stdin');
  if (piped.length > 1) addProblems([{ path: '-', message: 'can be used for one image only' }]);
  if (problems.size > 0) throw toInvalidFailure([...problems.values()]);
  for (const warning of warnings.values()) {
    await context.output.warn(
      say`As far as this version of regen knows, ${warning}; ${context.services.target.name} decides.`,
    );
  }
  return jobs;
}

/**
 * One task for each image; if the command takes two images, the second is the reference. The images of a video are
 * one task.
 */
function splitArguments({ command, args, flags }: ParsedCommand): ArgumentValues[] {
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
      'With several images, the reference must be a flag.',
      'Pass it as --reference-image <image>; all other images are styled.',
    );
  }
  return [{ image: image as string | undefined, reference_image: rest[0] }];
}

/** Removes empty lists: they were not typed. */
function withoutEmpty(args: ArgumentValues): ArgumentValues {
  return Object.fromEntries(Object.entries(args).filter(([, value]) => value?.length !== 0));
}

function planJob(
  { command, flags, args }: ParsedCommand,
  context: PlanContext & { readonly format: WireFormat },
  { known: operation, open }: Record<'known' | 'open', Operation>,
  given: unknown,
  { addProblems, warn }: Record<'addProblems' | 'warn', (problems: readonly FailureDetail[]) => void>,
): Job {
  const { services, format } = context;
  const request = format.readRequest(operation, buildRequest(command, args, flags, given));
  const bodyGiven = given !== undefined;
  const fields = findImageFields(operation.body as NonNullable<Operation['body']>);
  const images: Record<string, ImageSource | ImageSource[]> = {};
  const body = { ...(request.body as Record<string, unknown> | undefined) };
  const fromTask = flags['from-task'] as string | undefined;
  const { videoFields = [], kind } = operation.task as TaskFacts;
  const named = videoFields.filter((field) => field in body);
  const isMissing = !bodyGiven && named.length === 0 && lacksVideo(command, flags);
  const standIns = isMissing || fromTask !== undefined ? videoFields.map((field) => [field, STAND_IN]) : [];
  const sent: Record<string, unknown> = { ...Object.fromEntries(standIns), ...body };
  if (isMissing) addProblems([MISSING_VIDEO]);
  if (fromTask !== undefined) {
    const path = args.task_id === undefined ? '--from-task' : '<task_id>';
    addProblems(named.map((field) => ({ path, message: `already sets ${field}; leave that out` })));
  }
  for (const field of fields) {
    const value = body[field];
    const texts = [value].flat();
    // A value that is not text is reported with the rest of the request.
    if (!texts.every((text) => typeof text === 'string') || value === undefined) continue;
    const sources = texts.map((text) => (bodyGiven ? parseBodyImage(text) : findSource(context, text)));
    const path = formatFieldName(['body', field], { command, args, flags }, false);
    addProblems(
      sources.flatMap((source) => ('problem' in source ? [{ path, message: source.problem }] : [])),
    );
    const found = sources.filter((source) => 'kind' in source);
    if (Array.isArray(value)) images[field] = found;
    else if (found[0]) images[field] = found[0];
    delete body[field];
    if (bodyGiven) continue;
    // The rest of the request can be checked without the contents of the files.
    const values = sources.map((source) => ('url' in source ? source.url : 'AAAA'));
    sent[field] = Array.isArray(value) ? values : values[0];
  }
  const service = services.target.baseUrl ?? `http://127.0.0.1:${STANDARD_PORT}`;
  const find = (declared: Operation) => {
    const whole = { ...request, body: bodyGiven && !isRecord(given) ? given : sent };
    return findRequestProblems(declared, { command, args, flags }, whole, { bodyGiven, service });
  };
  const refused = find(open);
  addProblems(refused);
  // The service may know better.
  if (open !== operation)
    warn(find(operation).filter(({ path }) => refused.every((one) => one.path !== path)));
  return {
    operation: command.operation as string,
    body,
    images,
    name: chooseName(images, kind),
    ...(fromTask !== undefined && { fromTask }),
  };
}

function findSource(context: PlanContext, text: string): ReturnType<typeof parseSource> {
  if (!text.startsWith('@')) return parseSource(text, context.system.cwd);
  const entry = findEntry(context, text);
  const [path] = entry?.saved ?? [];
  const saved = path === undefined ? undefined : parseSource(path, '/');
  if (saved && 'kind' in saved) return saved;
  const [url] = entry?.outputs ?? [];
  if (url !== undefined) return { kind: 'url', url };
  const id = entry?.task_id;
  return {
    problem: say`has no result yet: ${text}${id ? say`; wait for it with: ${regen('task wait', shellWord(id))}` : ''}`,
  };
}

/** Parses an image in a request body, where Base64 has no prefix. */
function parseBodyImage(text: string): ImageSource {
  if (/^https?:/i.test(text)) return { kind: 'url', url: text };
  return { kind: 'data', base64: text.startsWith('data:') ? text.slice(text.indexOf(',') + 1) : text };
}

/** Stands for the video of a task while a request is checked, before the task is read. */
const STAND_IN = 'https://video.invalid/';

/** Replaces the problem of the contract, which does not know about tasks. */
const MISSING_VIDEO: FailureDetail = {
  path: '<task_id>',
  message: 'is required, or --video-creation-id together with --video-url',
};

/** Sets the flag for the video to extend, if it was given as an argument. */
function useVideoArgument(parsed: ParsedCommand): ParsedCommand {
  const { task_id } = parsed.args;
  if (task_id === undefined) return parsed;
  if (parsed.flags['from-task'] !== undefined)
    throw usage('<task_id> and --from-task cannot be used together.');
  return { ...parsed, flags: { ...parsed.flags, 'from-task': task_id as string } };
}

/** Whether a command that extends a video was given none on the command line. */
export function lacksVideo({ operation, flags: known }: Command, flags: FlagValues): boolean {
  const { videoFields } = getTaskFacts(operation as string);
  const isGiven = ({ name, target }: Flag) =>
    flags[name] !== undefined && (name === 'from-task' || videoFields?.includes(target?.at(-1) ?? ''));
  return videoFields !== undefined && !known.some(isGiven);
}

/** Parses an image argument. `problem` is a sentence without its subject. */
export function parseSource(text: string, cwd: string): ImageSource | { readonly problem: Text } {
  if (text === '-') return { kind: 'stdin' };
  if (/^https?:\/\//i.test(text)) return { kind: 'url', url: text };
  if (/^(?:data|base64):/i.test(text)) return parseData(text);
  const path = resolve(cwd, text);
  const found = text === '' ? undefined : statSync(path, { throwIfNoEntry: false });
  if (!found) return { problem: `names a file that does not exist: ${shorten(text)}` };
  if (found.isDirectory())
    return { problem: `is a folder; name the images in it: ${join(shorten(text), '*.jpg')}` };
  if (!found.isFile() && !isShellPipe(path)) return { problem: `is not a regular file: ${shorten(text)}` };
  if (found.isFile() && found.size === 0) return { problem: `is an empty file: ${shorten(text)}` };
  if (found.size > MAX_GIVEN_BYTES) return { problem: `is too large: ${shorten(text)}` };
  if (found.isFile() && isNoImage(path)) return { problem: `is not an image: ${shorten(text)}` };
  return { kind: 'file', path, bytes: found.size };
}

function isNoImage(path: string): boolean {
  try {
    return lacksImage(path);
  } catch {
    return false; // Reading the whole file says what is wrong.
  }
}

// Matches a prefix only, because expressions overflow the stack on megabytes.
function parseData(text: string): ImageSource | { readonly problem: Text } {
  const prefix = /^(?:base64:|data:[^,]{0,200};base64,)/i.exec(text.slice(0, 250))?.[0];
  if (prefix === undefined) return { problem: 'must be Base64 data, such as data:image/png;base64,<data>' };
  const base64 = text.slice(prefix.length);
  if (base64.trim() === '') return { problem: 'must not be empty' };
  if (/[^A-Za-z0-9+/=\s]/.test(base64)) return { problem: 'must be valid Base64' };
  return { kind: 'data', base64 };
}

function shorten(text: string): string {
  return text.length > 100 ? `${text.slice(0, 100)}…` : text;
}

/**
 * The base of the names of result files: the name of the first image without its extension.
 * @param other used if it has no name
 */
export function chooseName(images: Images, other: string): string {
  const [source] = Object.values(images).flat();
  if (source?.kind === 'file') return basename(source.path, extname(source.path));
  if (source?.kind === 'url' && URL.canParse(source.url)) {
    const { pathname } = new URL(source.url);
    return basename(pathname, extname(pathname)) || other;
  }
  return other;
}
