import { Failure } from '../terminal/failure.js';
import type { ArgumentValues, Command, ParsedCommand } from './command.js';
import { formatFieldName } from './request.js';

/** A refusal of the service in the words of the command line: `--duration` for `duration`. */
export function inWords(failure: Failure, { command, args, flags }: ParsedCommand): Failure {
  const { details } = failure.facts;
  // Of a whole body the service's own names were typed.
  if (!details || flags.body !== undefined) return failure;
  let { message } = failure;
  const renamed = details.map((detail) => {
    const path = wordFor(detail.path, command, args);
    message = message.replace(`${detail.path} ${detail.message}`, () => `${path} ${detail.message}`);
    return { ...detail, path };
  });
  return new Failure(message, { ...failure.facts, details: renamed });
}

function wordFor(path: string, command: Command, args: ArgumentValues): string {
  const keys = path.split('.');
  const parts = ['body', 'query', 'params'];
  const places = parts.includes(keys[0] as string) ? [keys] : parts.map((part) => [part, ...keys]);
  const own = places.find((place) =>
    [...command.arguments, ...command.flags].some(({ target }) =>
      target?.every((key, at) => key === place[at]),
    ),
  );
  return own ? formatFieldName(own, command, false, args) : path;
}
