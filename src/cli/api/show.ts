import { failureOf } from '../../client/answer.js';
import type { RawAnswer } from '../../client/client.js';
import { usage } from '../terminal/failure.js';
import type { Output } from '../terminal/output.js';
import { readAll } from '../terminal/stdin.js';
import { stripControls, toJson } from '../terminal/text.js';

/** What of a refusal is kept to say in words what it was. */
const keptBytes = 64 * 1024;

/** Prints the status line and the headers. */
export async function showHead(output: Output, { status, headers }: RawAnswer): Promise<void> {
  await output.line(`HTTP/1.1 ${status}`);
  for (const [name, value] of Object.entries(headers)) await output.line(stripControls(`${name}: ${value}`));
  await output.line('');
}

/**
 * Prints the body: unchanged, or on a terminal as a person can read it.
 * @throws ServiceError where the answer is no success
 */
export async function showBody(output: Output, answer: RawAnswer, now: number): Promise<void> {
  if (output.system.stdout.isTTY && answer.status < 300) return showToPerson(output, answer);
  const start: Uint8Array[] = [];
  let size = 0;
  for await (const part of answer.body) {
    if (size < keptBytes) start.push(part);
    size += part.byteLength;
    // A refusal on a terminal is told by its error line; its body is for programs.
    if (!output.system.stdout.isTTY) await output.write(part);
  }
  if (answer.status < 200 || answer.status >= 300) {
    const body = (async function* () {
      yield* start;
    })();
    throw await failureOf({ ...answer, body, discard: async () => {} }, now);
  }
}

async function showToPerson(output: Output, answer: RawAnswer): Promise<void> {
  const type = answer.headers['content-type'] ?? '';
  if (type !== '' && !/^text\/|json|xml|yaml/i.test(type)) {
    throw usage(
      `The answer is ${stripControls(type)}, which is nothing for a terminal.`,
      'Send it to a file with >.',
    );
  }
  const text = await readAll(answer.body);
  if (text !== '') await output.line(readable(text));
}

function readable(text: string): string {
  try {
    return stripControls(toJson(JSON.parse(text), 2));
  } catch {
    return stripControls(text.replace(/\n$/, ''));
  }
}
