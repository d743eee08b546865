import { InvalidRequestError } from '../../client/errors.js';
import { isMessage, type Names, type Part, render, type Text } from '../../contract/schema/message.js';
import { toInvalidFailure } from '../command/request.js';
import { toFailure } from '../command/to-failure.js';
import type { Failure } from '../terminal/failure.js';

/** What an agent can call, and with what: the names of the tools, and the arguments of the one that failed. */
interface KnownTools {
  readonly tools: readonly string[];
  readonly inputs: readonly string[];
  /** What to do about errors that the command line has other advice for, by their codes. */
  readonly hints: Readonly<Record<string, string>>;
}

/** The argument of a tool for a flag of its command. */
export const toInputName = (flag: string) => flag.replaceAll('-', '_');

/** The argument of a tool for the path of a problem: the fields of a body may be beside each other, or in `body`. */
function nameInput(path: string, inputs: readonly string[]): string {
  const [first = '', ...rest] = path.split('.');
  if (inputs.includes(first)) return path;
  return inputs.includes('body') ? `body.${path}` : first === 'body' ? rest.join('.') : path;
}

/** The tool for a command of regen: `task wait` is `task_wait`, `image style-transfer` is `image_styleTransfer`. */
function toToolName(words: string): string {
  return words.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase()).replaceAll(' ', '_');
}

/** A hint that is only for the command line. */
const FOR_COMMAND_LINE = /(?:^|[\s(`])(?:--?[a-z]|regen )/;

/** Writes an error for an agent, in the names of its tools. A hint that it cannot follow is left out. */
export function toToolError(error: unknown, { tools, inputs, hints }: KnownTools): object {
  const { text, facts } = toNamedFailure(error, inputs);
  const { code, hint = '', status, requestId, details } = facts;
  const names: Names = {
    field: (path) => nameInput(path, inputs),
    flag: toInputName,
    argument: (name) => name,
    command: (words, rest, dir) => {
      const name = toToolName(words);
      if (!tools.includes(name)) return ['regen', words, rest].filter(Boolean).join(' ');
      return dir === undefined ? name : `${name} with the dir ${JSON.stringify(dir)}`;
    },
  };
  const canFollow = (part: Part) => {
    if (typeof part === 'string') return !FOR_COMMAND_LINE.test(part);
    if ('flag' in part) return inputs.includes(toInputName(part.flag));
    if ('argument' in part) return inputs.includes(part.argument);
    return !('command' in part) || tools.includes(toToolName(part.command));
  };
  const write = (one: Text) => render(one, names);
  return {
    ...{ code, message: write(text) },
    hint: hints[code] ?? (toParts(hint).every(canFollow) ? write(hint) || undefined : undefined),
    ...{ status, request_id: requestId },
    details: details?.map(({ path, message }) => ({
      path: nameInput(path, inputs),
      message: write(message),
    })),
  };
}

function toNamedFailure(error: unknown, inputs: readonly string[]): Failure {
  if (!(error instanceof InvalidRequestError)) return toFailure(error);
  const { problems } = error;
  return toInvalidFailure(
    problems.map(({ path, message }) => ({ path: nameInput(path.join('.'), inputs), message })),
  );
}

function toParts(text: Text): readonly Part[] {
  return isMessage(text) ? text.parts : [text];
}
