import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Context } from '../context.js';
import { Refused } from '../refused.js';
import { uploadTarget } from '../registry/upload-target.js';
import { markUploaded } from '../registry/version-states.js';
import { type Staged, TooLarge } from '../storage/storage.js';
import { wasRefused } from './errors.js';
import { type ArchiveName, archiveKey, type UploadGrant, verifyUpload } from './signed-urls.js';

export const uploadPath = '/uploads/:publisherId/:nodeId/:version/node.zip';

/** A client that sends nothing for so long is gone. */
const silenceMs = 60_000;

/** Adds the PUT that signed URLs lead to: the archive of a registered version, as it is, in one request. */
export async function routeUploads(app: FastifyInstance, context: Context): Promise<void> {
  await app.register(async (scope) => {
    // The handler reads the bytes itself, whatever they claim to be.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, _payload, done) => done(null));
    scope.put<{ Params: ArchiveName; Querystring: UploadGrant }>(uploadPath, async (request) => {
      try {
        return await receive(context, request);
      } catch (error) {
        throw asRefusal(error);
      }
    });
  });
}

type UploadRequest = FastifyRequest<{ Params: ArchiveName; Querystring: UploadGrant }>;

/** What a PUT answers once the archive's file and row are durable. */
interface Receipt {
  /** Bytes. */
  readonly size: number;
  /** Hex. */
  readonly sha256: string;
}

// Decided: the signed URL takes one PUT of application/zip, answers 200, and keeps nothing of an upload that was cut.
async function receive(context: Context, request: UploadRequest): Promise<Receipt> {
  const versionId = verifyUpload(context, request.params, request.query);
  if (!versionId) {
    throw new Refused(
      'invalid_signature',
      'This upload URL is expired or was changed; register the version again.',
    );
  }
  const announced = announcedSize(request, context.configuration.limits.archive);
  await refuseEarly(context, versionId, announced);
  request.raw.setTimeout(silenceMs, () => request.raw.destroy());
  const key = archiveKey(request.params);
  const body = Readable.from(bytesOf(request.raw));
  const staged = await context.storage.stage(key, body, context.configuration.limits.archive);
  try {
    if (announced !== undefined && staged.size !== announced) {
      throw new Refused('upload_incomplete', `${announced} bytes were announced but ${staged.size} came.`);
    }
    if (wasRefused(request.raw.socket)) {
      throw new Refused('upload_incomplete', 'More bytes came than were announced.');
    }
    await keep(context, versionId, staged);
  } finally {
    await staged.discard();
  }
  return { size: staged.size, sha256: staged.sha256 };
}

/**
 * The body by a stream of its own: a consumer that fails destroys its source, and a destroyed request is never read to
 * its end, so that its connection would hang after the answer.
 */
async function* bytesOf(body: Readable): AsyncGenerator<Buffer> {
  // Not `yield*`, which would pass the consumer's failure on.
  for await (const chunk of body.iterator({ destroyOnReturn: false })) yield chunk;
}

/** @returns the bytes announced; undefined where the body comes in chunks */
function announcedSize({ headers }: UploadRequest, limit: number): number | undefined {
  const type = headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  if (type !== 'application/zip' || headers['content-encoding'] !== undefined) {
    throw new Refused(
      'unsupported_media_type',
      'Send the archive as it is, with Content-Type: application/zip.',
    );
  }
  // Decided: an upload is one PUT of the whole archive; a part of it would be kept as if it were all.
  if (headers['content-range'] !== undefined) {
    const message = 'must be absent: send the whole archive in one request';
    throw new Refused('invalid_request', `Content-Range ${message}.`, [{ path: 'Content-Range', message }]);
  }
  const length = headers['content-length'];
  if (length === undefined) return undefined;
  if (Number(length) > limit) throw new Refused('too_large', tooLarge(limit));
  return Number(length);
}

/** Spares the client a long transfer that could only end in a refusal. */
async function refuseEarly(
  context: Context,
  versionId: string,
  announced: number | undefined,
): Promise<void> {
  const version = await uploadTarget(context.database, versionId);
  const otherSize = announced !== undefined && announced !== version.archive_size;
  if (version.archive_size !== null && otherSize) throw otherBytes(version.version);
}

/** File, row and job become durable together; the same bytes once more are a repeat whose answer was lost. */
async function keep(context: Context, versionId: string, staged: Staged): Promise<void> {
  await context.database.transaction().execute(async (tx) => {
    const { size, sha256 } = staged;
    // Again, because bans and deletes may have come while the bytes did.
    const version = await uploadTarget(tx, versionId);
    if (await markUploaded(tx, { versionId, size, sha256, now: context.now() })) {
      await context.queue.enqueue(tx, { kind: 'check-archive', key: versionId });
      // Last, so that hardly anything can fail after it; a file whose row is not committed is named by nothing.
      await staged.commit();
    } else if (version.archive_sha256 !== sha256) throw otherBytes(version.version);
  });
}

function otherBytes(version: string): Refused {
  return new Refused(
    'version_exists',
    `Version ${version} already has another archive; publish the new one under the next number.`,
  );
}

function tooLarge(limit: number): string {
  return `The archive is larger than the ${limit} bytes accepted here.`;
}

const outOfRoom = ['ENOSPC', 'EDQUOT', 'EFBIG'];
const cut = ['ECONNRESET', 'ERR_STREAM_PREMATURE_CLOSE', 'ABORT_ERR'];

function asRefusal(error: unknown): unknown {
  if (error instanceof TooLarge) return new Refused('too_large', 'The archive is larger than accepted here.');
  const { code = '' } = error as NodeJS.ErrnoException;
  if (outOfRoom.includes(code))
    return new Refused('unavailable', 'The service has no room for the archive now.');
  if (cut.includes(code)) return new Refused('upload_incomplete', 'The upload ended before all bytes came.');
  return error;
}
