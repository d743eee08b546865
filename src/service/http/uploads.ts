import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { hasCode } from '../../contract/has-code.js';
import { type Database, findRow } from '../database/database.js';
import type { Context } from '../operation/context.js';
import { requireDailyQuota, takeDailyQuota } from '../operation/quota.js';
import { invalidField, Refused } from '../operation/refused.js';
import {
  type ArchiveName,
  getArchiveFolder,
  type SignedQuery,
  type UploadGrant,
  verifyUpload,
} from '../operation/signed-urls.js';
import { findRegistrant, getUploadTarget, markUploaded } from '../registry/version-states.js';
import type { StoredObject } from '../storage/storage.js';
import { wasRefused } from './errors.js';
import { requireFreeDisk } from './readiness.js';

const UPLOAD_PATH = '/uploads/:publisherId/:nodeId/:version/node.zip';

/** Adds the PUT of signed upload URLs: the archive of a registered version in one request. */
export async function routeUploads(app: FastifyInstance, context: Context): Promise<void> {
  await app.register(async (scope) => {
    // The handler reads the stream itself and checks the content type.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, _payload, done) => done(null));
    scope.put<{ Params: ArchiveName; Querystring: SignedQuery }>(UPLOAD_PATH, async (request) => {
      try {
        return await receiveUpload(context, request);
      } catch (error) {
        throw toUploadRefused(error);
      }
    });
  });
}

type UploadRequest = FastifyRequest<{ Params: ArchiveName; Querystring: SignedQuery }>;

/** The answer to an upload once the archive's file and row are durable. */
type UploadReceipt = Pick<StoredObject, 'size' | 'sha256'>;

// Decided: the URL accepts one PUT of application/zip, answers 200, and keeps nothing of an interrupted upload.
async function receiveUpload(context: Context, request: UploadRequest): Promise<UploadReceipt> {
  const grant = verifyUpload(context, request.params, request.query);
  if (!grant) {
    throw new Refused('invalid_signature', 'This URL is expired or modified; register the version again.');
  }
  const announced = readAnnouncedSize(request, context.configuration.limits.archive);
  await refuseEarly(context, grant, announced);
  await requireFreeDisk(context, announced);
  const { limits } = context.configuration;
  const key = `${getArchiveFolder(request.params)}/${randomUUID()}.zip`;
  const archive = await context.storage.write(key, Readable.from(readChunks(request.raw)), limits.archive);
  try {
    requireWhole(request, archive.size, announced);
    if (!(await keepArchive(context, grant, archive))) await context.storage.remove(key);
  } catch (error) {
    // After any other error the transaction may have been committed; if not, a job removes the archive.
    if (error instanceof Refused) await context.storage.remove(key);
    throw error;
  }
  return { size: archive.size, sha256: archive.sha256 };
}

function requireWhole(request: UploadRequest, size: number, announced: number | undefined): void {
  if (announced !== undefined && size !== announced)
    throw new Refused(
      'upload_incomplete',
      `Content-Length announced ${announced} bytes but ${size} arrived.`,
    );
  if (wasRefused(request.raw.socket))
    throw new Refused('upload_incomplete', 'More bytes arrived than Content-Length announced.');
  // Decided: an empty body does not use up the version number.
  if (size === 0) throw invalidField('body', 'must not be empty', 'The archive');
}

/**
 * Reads the body in a way that a failing consumer cannot destroy the request: a destroyed request is never
 * read to its end, so its connection would hang after the answer.
 */
async function* readChunks(body: Readable): AsyncGenerator<Buffer> {
  // Not `yield*`, which would pass the consumer's failure on.
  for await (const chunk of body.iterator({ destroyOnReturn: false })) yield chunk;
}

/** @returns the Content-Length in bytes; undefined if the body is chunked */
function readAnnouncedSize({ headers }: UploadRequest, limit: number): number | undefined {
  const type = headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  if (type !== 'application/zip' || headers['content-encoding'] !== undefined)
    throw new Refused(
      'unsupported_media_type',
      'Send the archive without encoding, with Content-Type: application/zip.',
    );
  // Decided: an upload is one PUT of the whole archive; a range would be stored as if it were the whole.
  if (headers['content-range'] !== undefined)
    throw invalidField('Content-Range', 'must be absent: send the whole archive in one request');
  const length = headers['content-length'];
  if (length === undefined) return undefined;
  if (Number(length) > limit)
    throw new Refused('too_large', `The archive is larger than the limit of ${limit} bytes.`);
  return Number(length);
}

/** Refuses before the transfer what would be refused after it. */
async function refuseEarly(context: Context, grant: UploadGrant, announced?: number): Promise<void> {
  const version = await getUploadTarget(context.database, grant.versionId);
  await requireRegistration(context.database, version.publisher_id, grant);
  if (version.archive_size === null) {
    const { publisher_id: publisherId } = version;
    // An archive of unknown size has at least one byte.
    const demand = { publisherId, quota: 'bytesPerDay', amount: announced ?? 1 } as const;
    await requireDailyQuota(context.database, context, demand);
  }
  const otherSize = announced !== undefined && announced !== version.archive_size;
  if (version.archive_size !== null && otherSize) throw differentArchive(version.version);
}

/**
 * Records the archive and enqueues its check.
 * @returns false if the version has the same archive already: a retry whose answer was lost
 */
async function keepArchive(context: Context, grant: UploadGrant, archive: StoredObject): Promise<boolean> {
  const { versionId, registrant: owner } = grant;
  return context.database.transaction().execute(async (tx) => {
    // Checked again, because the node may have been banned or deleted during the transfer.
    const version = await getUploadTarget(tx, versionId);
    await requireRegistration(tx, version.publisher_id, grant);
    if (!(await markUploaded(tx, { versionId, archive, now: context.now() }))) {
      if (version.archive_sha256 === archive.sha256) return false;
      throw differentArchive(version.version);
    }
    const { publisher_id: publisherId } = version;
    await takeDailyQuota(tx, context, { publisherId, quota: 'bytesPerDay', amount: archive.size });
    // A user takes turns with others, however many publishers one has.
    await context.queue.enqueue(tx, { kind: 'check-archive', key: versionId, owner });
    return true;
  });
}

// Decided: a signed URL ends with the membership of the person who registered the version, with the personal
// access token of the registration, and when someone else registers the version.
async function requireRegistration(
  database: Database,
  publisher_id: string,
  { versionId, registrant, tokenId }: UploadGrant,
): Promise<void> {
  if (!(await findRow(database, 'members', { publisher_id, user_id: registrant }))) {
    const message = `The person who registered this version is no longer a member of the publisher ${publisher_id}.`;
    throw new Refused('forbidden', message);
  }
  const token = await findRow(database, 'personal_access_tokens', { id: tokenId });
  if (token && (await findRegistrant(database, versionId)) === registrant) return;
  const message =
    'The personal access token was revoked, or someone else registered the version; register it again.';
  throw new Refused('invalid_signature', message);
}

function differentArchive(version: string): Refused {
  return new Refused(
    'version_exists',
    `Version ${version} already has a different archive; publish the new one under a new version number.`,
  );
}

const FULL_CODES = ['ENOSPC', 'EDQUOT', 'EFBIG'];
const CUT_CODES = ['ECONNRESET', 'ERR_STREAM_PREMATURE_CLOSE', 'ABORT_ERR'];

function toUploadRefused(error: unknown): unknown {
  if (hasCode(error, 'object_too_large'))
    return new Refused('too_large', 'The archive is larger than the limit.');
  const { code = '' } = error as NodeJS.ErrnoException;
  if (FULL_CODES.includes(code))
    return new Refused('unavailable', 'The service has no disk space for the archive; try again later.');
  if (CUT_CODES.includes(code))
    return new Refused('upload_incomplete', 'The upload ended before all bytes arrived.');
  return error;
}
