import type { Readable, Writable } from 'node:stream';
import {
  answerRequest,
  formatAnswer,
  formatError,
  parseMessage,
  RpcError,
  type RpcRequest,
  type ToolServer,
} from '../../wire/mcp.js';

/** Images may be in the arguments. */
const MAX_LINE_BYTES = 64 * 1024 ** 2;
const MAX_RUNNING = 64;
const CANCELED = 'canceled';

/** Answers the messages on a stream, one a line, until it ends. Then it aborts what runs, and waits until that has ended. */
export async function serveLines(input: Readable, output: Writable, server: ToolServer): Promise<void> {
  const running = new Map<
    string | number,
    { readonly abort: AbortController; readonly done: Promise<void> }
  >();
  const session = { isOpen: false };
  // A client that has gone must not end this process while it starts what is paid for.
  output.removeAllListeners('error').on('error', () => {});
  const write = (message: object) =>
    new Promise<void>((done) => void output.write(`${JSON.stringify(message)}\n`, () => done()));

  const answer = async (request: RpcRequest, id: string | number, { signal }: AbortController) => {
    const notify = (message: object) => void (signal.aborted || write(message));
    const written = await answerRequest(server, request, { signal, notify, session }).then(
      (result) => formatAnswer(id, result),
      (error) => formatError(error, id),
    );
    // A client that has canceled a request expects no answer.
    if (signal.reason !== CANCELED) await write(written);
    running.delete(id);
  };

  const take = async (line: Buffer | undefined) => {
    let id: string | number | undefined;
    try {
      if (!line) throw new RpcError(-32600, `A message has more than ${MAX_LINE_BYTES} bytes.`);
      const request = parseMessage(line.toString());
      id = request?.id;
      if (request?.method === 'notifications/cancelled')
        running.get(request.params.requestId as string)?.abort.abort(CANCELED);
      if (!request || id === undefined) return;
      if (running.has(id)) throw new RpcError(-32600, 'A request with the same id is running.');
      if (running.size >= MAX_RUNNING) throw new RpcError(-32000, `${MAX_RUNNING} requests are running.`);
      const abort = new AbortController();
      const done = answer(request, id, abort);
      running.set(id, { abort, done });
    } catch (error) {
      await write(formatError(error, id));
    }
  };

  for await (const line of readBoundedLines(input)) await take(line);
  for (const { abort } of running.values()) abort.abort();
  await Promise.all([...running.values()].map(({ done }) => done));
}

/** The lines of a stream that are not blank; undefined for one that is too long, whose bytes are not kept. */
async function* readBoundedLines(input: Readable): AsyncGenerator<Buffer | undefined> {
  let parts: Buffer[] = [];
  let bytes = 0;
  const end = () => {
    const line = bytes > MAX_LINE_BYTES ? undefined : Buffer.concat(parts);
    [parts, bytes] = [[], 0];
    return line;
  };
  for await (const chunk of input) {
    let rest = Buffer.from(chunk);
    for (let at = rest.indexOf(10); ; at = rest.indexOf(10)) {
      const part = at < 0 ? rest : rest.subarray(0, at);
      bytes += part.length;
      if (bytes <= MAX_LINE_BYTES) parts.push(part);
      else parts = [];
      if (at < 0) break;
      const line = end();
      if (!line || line.some((byte) => byte > 32)) yield line;
      rest = rest.subarray(at + 1);
    }
  }
}
