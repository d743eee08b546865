import { webhookHeaders } from '../../contract/events.js';
import { usage } from '../terminal/failure.js';

/** A recorded request: its headers by lower-case name, and its body. */
export interface RawRequest {
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Buffer;
}

/** Parses an optional request line, headers, an empty line and a body. */
export function readRawRequest(bytes: Buffer): RawRequest {
  const [head, body] = splitRequest(bytes);
  const lines = head.split(/\r?\n/);
  const first = /^[A-Z]+ \S+( HTTP\/[\d.]+)?$/.test(lines[0] ?? '') ? 1 : 0;
  const headers = new Map(
    lines.slice(first).map((line) => {
      const [, name, value = ''] = /^([!#$%&'*+.^_`|~\w-]+):(.*)$/.exec(line) ?? [];
      if (!name) throw toInvalidRequestFailure();
      return [name.toLowerCase(), value.trim()] as const;
    }),
  );
  if (!headers.has(webhookHeaders.id) && !headers.has(webhookHeaders.signature))
    throw toInvalidRequestFailure();
  // An editor may have added a line break at the end.
  const length = headers.get('content-length');
  return { headers, body: length && /^\d+$/.test(length) ? body.subarray(0, Number(length)) : body };
}

function splitRequest(bytes: Buffer): [head: string, body: Buffer] {
  const ends = ['\r\n\r\n', '\n\n'].map((end) => ({ at: bytes.indexOf(end), length: end.length }));
  const [first] = ends.filter(({ at }) => at >= 0).sort((one, other) => one.at - other.at);
  if (!first) throw toInvalidRequestFailure();
  return [bytes.subarray(0, first.at).toString('latin1'), bytes.subarray(first.at + first.length)];
}

function toInvalidRequestFailure() {
  return usage(
    'The input is not a complete request.',
    'Write headers, an empty line and the body; or pass the body with --id, --timestamp and --signature.',
  );
}
