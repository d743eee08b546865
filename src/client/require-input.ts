import { InvalidRequestError } from './errors.js';

/**
 * Checks what a program without types may have left out.
 * @param wrong what is wrong with each input, if something is
 * @throws InvalidRequestError that names all of it
 */
export function requireInput(wrong: Readonly<Record<string, string | false>>): void {
  const problems = Object.entries(wrong).flatMap(([name, message]) =>
    message === false ? [] : [{ path: [name], message }],
  );
  if (problems.length > 0) throw new InvalidRequestError(problems);
}
