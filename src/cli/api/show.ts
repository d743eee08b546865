import { readServiceError } from '../../client/answer.js';
import type { RawAnswer } from '../../client/client-options.js';
import { regen, say } from '../../contract/schema/message.js';
import { usage } from '../terminal/failure.js';
import type { Output } from '../terminal/output.js';
import { readAll } from '../terminal/stdin.js';
import { stripControls, toJson } from '../terminal/text.js';

/** How much of an error response is kept for its message. */
const MAX_KEPT_BYTES = 64 * 1024;

/** Prints the status line and the headers. */
export async function showHead(output: Output, { status, headers }: RawAnswer): Promise<void> {
  await output.line(`HTTP/1.1 ${status}`);
  for (const [name, value] of Object.entries(headers)) await output.line(stripControls(`${name}: ${value}`));
  await output.line('');
}

/**
 * Prints the body, unchanged or formatted for a terminal.
 * @throws ServiceError if the response is an error
 */
export async function showBody(output: Output, answer: RawAnswer, now: number): Promise<void> {
  const { filter, ndjson } = output.mode;
  if ((filter || ndjson) && answer.status < 300) return showValue(output, await readBody(answer, now));
  if (output.system.stdout.isTTY && answer.status < 300) return showToPerson(output, answer);
  const start: Uint8Array[] = [];
  let size = 0;
  for await (const part of answer.body) {
    if (size < MAX_KEPT_BYTES) start.push(part);
    size += part.byteLength;
    // On a terminal an error is shown as a message instead of its body.
    if (!output.system.stdout.isTTY) await output.write(part);
  }
  if (answer.status < 200 || answer.status >= 300) throw await toServiceError(answer, start, now);
}

function toServiceError(answer: RawAnswer, start: readonly Uint8Array[], now: number): Promise<Error> {
  const body = (async function* () {
    yield* start;
  })();
  return readServiceError({ ...answer, body, discard: async () => {} }, now);
}

/**
 * Reads a body as JSON.
 * @throws ServiceError if the response is an error, Failure if it is not JSON
 */
export async function readBody(answer: RawAnswer, now: number): Promise<unknown> {
  const text = await readAll(answer.body);
  if (answer.status < 200 || answer.status >= 300)
    throw await toServiceError(answer, [Buffer.from(text)], now);
  try {
    return text === '' ? {} : JSON.parse(text);
  } catch {
    throw usage('The response is not JSON.', 'Leave out --jq, --ndjson and --paginate.');
  }
}

/** Prints a value as JSON, filtered if the command asks for that. */
export async function showValue(output: Output, value: unknown): Promise<void> {
  const { json, ndjson, filter } = output.mode;
  if (json || ndjson || filter) return output.answer(value);
  await output.line(stripControls(toJson(value, output.system.stdout.isTTY ? 2 : undefined)));
}

async function showToPerson(output: Output, answer: RawAnswer): Promise<void> {
  const type = answer.headers['content-type'] ?? '';
  if (type !== '' && !/^text\/|json|xml|yaml/i.test(type)) {
    throw usage(
      `The response is ${stripControls(type)}, which cannot be shown on a terminal.`,
      say`Redirect it to a file: ${regen('api', '<path> > file')}`,
    );
  }
  const text = await readAll(answer.body);
  if (text !== '') await output.line(formatBody(text));
}

function formatBody(text: string): string {
  try {
    return stripControls(toJson(JSON.parse(text), 2));
  } catch {
    return stripControls(text.replace(/\n$/, ''));
  }
}
