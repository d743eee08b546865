import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { Refused } from '../refused.js';
import { refuseCrowd } from './crowd.js';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Lets JSON in, and nothing else. */
export function acceptJson(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async (request: unknown, body: Buffer) => {
      const { headers } = request as { headers: Record<string, unknown> };
      if (headers['idempotency-key'] !== undefined) {
        // Not the body itself, which may be large and would outlive its parsing.
        (request as { bodyHash: Buffer }).bodyHash = createHash('sha256').update(body).digest();
      }
      // Decided: an empty body with Content-Type: application/json is no body.
      return body.length === 0 ? undefined : parse(body);
    },
  );
  app.addContentTypeParser('*', async ({ headers }: { headers: Record<string, unknown> }) => {
    // What curl sends with `-d ''`: a type, but no body.
    if (headers['content-length'] === '0') return undefined;
    if (headers['content-length'] === undefined && headers['transfer-encoding'] === undefined)
      return undefined;
    throw new Refused(
      'unsupported_media_type',
      'Send the body as JSON, with Content-Type: application/json.',
    );
  });
}

function parse(body: Buffer): unknown {
  refuseCrowd(body);
  try {
    return JSON.parse(utf8.decode(body));
  } catch {
    // The parser's own words would quote the body, which may hold a secret.
    throw new Refused('malformed_json', 'The body is not valid JSON in UTF-8.');
  }
}
