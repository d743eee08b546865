import type { Operation } from '../../contract/operation.js';
import { checkValue, describeChoices } from '../../contract/schema/check.js';
import { describeFields } from '../../contract/schema/fields.js';
import { isMessage, say, type Text, translate } from '../../contract/schema/message.js';
import type { Problem } from '../../contract/schema/schema-types.js';
import { shortenStatus } from '../../contract/status-names.js';
import { findNearest } from '../../wire/nearest.js';
import { Failure, type FailureDetail } from '../terminal/failure.js';
import { readField } from '../terminal/rows.js';
import { oneLine } from '../terminal/text.js';
import { formatName, type Request } from './build-request.js';
import type { Argument, Flag, ParsedCommand } from './command.js';

interface RequestCheck {
  readonly bodyGiven: boolean;
  /** The address of the service, for rules that depend on it. */
  readonly service?: string;
}

/**
 * Lists all problems of a request, with the names of flags and arguments.
 */
export function findRequestProblems(
  operation: Operation,
  parsed: ParsedCommand,
  request: Request,
  { bodyGiven, service }: RequestCheck,
): FailureDetail[] {
  const values = { ...request, body: operation.body ? (request.body ?? {}) : undefined };
  const formatPath = (path: readonly string[]) => formatFieldName(path, parsed, bodyGiven);
  const toDetail = ({ path: [part = '', ...path], message, isOfValue }: Problem) => {
    const isTyped = isOfValue && !(bodyGiven && part === 'body');
    const { choices } = (isTyped && findInput([part, ...path], parsed)) || {};
    // A command may accept fewer values than its request.
    const broken = choices && isMessage(message) ? describeChoices({ values: choices }) : message;
    const given = isTyped ? describeGiven(readField(values, [part, ...path].join('.')), choices) : '';
    return {
      path: formatPath([String(part), ...path.map(String)]),
      message: say`${translateNames(String(part), broken)}${given}`,
    };
  };
  const translateNames = (part: string, message: Text) =>
    translate(message, {
      field: (field) => formatPath([part, ...field.split('.')]),
      // A value without a short name is left for the reader of the service's names.
      value: shortenStatus,
    });
  const problems = (['params', 'query', 'body'] as const).flatMap((part): Problem[] => {
    const schema = operation[part];
    const checked = schema && checkValue(schema, values[part], service ? { service } : {});
    if (!checked || checked.ok) return [];
    return checked.problems.map((problem) => ({ ...problem, path: [part, ...problem.path] }));
  });
  return problems.map(toDetail);
}

/** A longer value is not repeated. */
const MAX_SHOWN_LENGTH = 60;

function findInput(path: readonly (string | number)[], { command }: ParsedCommand) {
  const names = path.filter((key) => typeof key === 'string').join('.');
  return [...command.arguments, ...command.flags].find(({ target }) => target?.join('.') === names);
}

/** Repeats a wrong value, with the choice that it may mean. */
function describeGiven(given: unknown, choices: readonly string[] = []): Text {
  if (!['string', 'number'].includes(typeof given) || given === '') return '';
  const text = oneLine(String(given));
  if (text.length > MAX_SHOWN_LENGTH) return '';
  const near = findNearest(
    text,
    choices.map((choice) => shortenStatus(choice) ?? choice),
  );
  return say`, not '${text}'${near ? say` (did you mean ${{ value: near }}?)` : ''}`;
}

/** The failure for problems that were found before sending anything. */
export function toInvalidFailure(details: readonly FailureDetail[]): Failure {
  const [first] = details;
  const isSentence = /\.$/.test(String(first?.message));
  const message =
    first && details.length === 1
      ? say`${first.path}${isSentence ? ':' : ''} ${first.message}${isSentence ? '' : '.'}`
      : `${details.length} problems; nothing was sent.`;
  return new Failure(message, { code: 'invalid_request', details });
}

export function formatFieldName(
  path: readonly string[],
  { command, args, flags }: ParsedCommand,
  bodyGiven: boolean,
): string {
  if (bodyGiven && path[0] === 'body') return path.join('.');
  const fits = ({ target }: Argument | Flag) => target?.every((key, index) => key === path[index]);
  const argument = command.arguments.find(fits);
  const fitting = command.flags.filter(fits);
  // A flag may have another name that only some services know.
  const flag = fitting.find(({ name }) => flags[name] !== undefined) ?? fitting[0];
  const wasFlagTyped = flag && flags[flag.name] !== undefined;
  const wasTyped = argument && args[argument.name] !== undefined;
  if (argument && (wasTyped || !wasFlagTyped)) return formatName(argument);
  return flag ? formatName(flag) : path.slice(1).join('.');
}

/** Lists the fields of a whole body that the service ignores: unknown or read-only ones. */
export function listIgnoredFields(operation: Operation, body: unknown): string[] {
  if (!operation.body || !('shape' in operation.body) || typeof body !== 'object' || body === null) return [];
  const fields = describeFields(operation.body as Operation['params']);
  return Object.keys(body).filter((name) => !fields[name] || fields[name].readOnly);
}
