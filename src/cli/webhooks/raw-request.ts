import { webhookHeaders } from '../../contract/events.js';
import { usage } from '../terminal/failure.js';

/** A request as it was written down: its headers by lower-case name, and its body. */
export interface RawRequest {
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Buffer;
}

/** Reads a request line, which may be absent, headers, an empty line and a body. */
export function readRawRequest(bytes: Buffer): RawRequest {
  const [head, body] = splitRequest(bytes);
  const lines = head.split(/\r?\n/);
  const first = /^[A-Z]+ \S+( HTTP\/[\d.]+)?$/.test(lines[0] ?? '') ? 1 : 0;
  const headers = new Map(
    lines.slice(first).map((line) => {
      const [, name, value = ''] = /^([!#$%&'*+.^_`|~\w-]+):(.*)$/.exec(line) ?? [];
      if (!name) throw notRaw();
      return [name.toLowerCase(), value.trim()] as const;
    }),
  );
  if (!headers.has(webhookHeaders.id) && !headers.has(webhookHeaders.signature)) throw notRaw();
  // What an editor put at its end is no part of it.
  const length = headers.get('content-length');
  return { headers, body: length && /^\d+$/.test(length) ? body.subarray(0, Number(length)) : body };
}

function splitRequest(bytes: Buffer): [head: string, body: Buffer] {
  const ends = ['\r\n\r\n', '\n\n'].map((end) => ({ at: bytes.indexOf(end), length: end.length }));
  const [first] = ends.filter(({ at }) => at >= 0).sort((one, other) => one.at - other.at);
  if (!first) throw notRaw();
  return [bytes.subarray(0, first.at).toString('latin1'), bytes.subarray(first.at + first.length)];
}

function notRaw() {
  return usage(
    'That is no whole request: headers, an empty line, and the body.',
    'For a body alone give its headers as --id, --timestamp and --signature.',
  );
}
