import { createHash, randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { hasCode } from '../../contract/has-code.js';
import { type Database, findRow, type Tx } from '../database/database.js';
import { OWNER_ID } from '../operation/caller.js';
import type { Context } from '../operation/context.js';
import { reserveUpload, takeDailyQuota } from '../operation/quota.js';
import { invalidField, Refused } from '../operation/refused.js';
import {
  type ArchiveName,
  getArchiveFolder,
  type SignedQuery,
  type UploadGrant,
  verifyUpload,
} from '../operation/signed-urls.js';
import { FairQueue } from '../queue/fair-queue.js';
import { findRegistrant, getUploadTarget, markUploaded } from '../registry/version-states.js';
import type { StoredObject } from '../storage/storage.js';
import { wasRefused } from './errors.js';

const UPLOAD_PATH = '/uploads/:publisherId/:nodeId/:version/node.zip';

/** Adds the PUT of signed upload URLs: the archive of a registered version in one request. */
export async function routeUploads(app: FastifyInstance, context: Context): Promise<void> {
  const uploading = new FairQueue(Number.POSITIVE_INFINITY, UPLOADS_OF_USER);
  await app.register(async (scope) => {
    // The handler reads the stream itself and checks the content type.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, _payload, done) => done(null));
    scope.put<{ Params: ArchiveName; Querystring: SignedQuery }>(UPLOAD_PATH, async (request) => {
      try {
        return await receiveUpload(context, uploading, request);
      } catch (error) {
        throw toUploadRefused(error, request.raw);
      }
    });
  });
}

/** Uploads of a user at the same time: each may take hours, and holds a connection, a file and space. */
const UPLOADS_OF_USER = 8;
const TOO_MANY_UPLOADS = `You are sending ${UPLOADS_OF_USER} archives at the same time, which is the limit; try again when one has ended.`;
const RETRY_SECONDS = 5;

type UploadRequest = FastifyRequest<{ Params: ArchiveName; Querystring: SignedQuery }>;

/** The answer to an upload once the archive's file and row are durable. */
type UploadReceipt = Pick<StoredObject, 'size' | 'sha256'>;

// Decided: the URL accepts one PUT of application/zip, answers 200, and keeps nothing of an interrupted upload.
async function receiveUpload(
  context: Context,
  uploading: FairQueue,
  request: UploadRequest,
): Promise<UploadReceipt> {
  const grant = verifyUpload(context, request.params, request.query);
  if (!grant) {
    throw new Refused('invalid_signature', 'This URL is expired or modified; register the version again.');
  }
  const announced = readAnnouncedSize(request, context.configuration.limits.archive);
  const version = await getUploadTarget(context.database, grant.versionId);
  await requireRegistration(context.database, version.publisher_id, grant);
  if (version.archive_size !== null && announced !== version.archive_size)
    throw differentArchive(version.version);
  const upload = { context, request, grant, announced };
  const receive = () =>
    version.archive_size === null ? receiveNew(upload, version.publisher_id) : receiveAgain(upload);
  const { registrant } = grant;
  if (registrant === OWNER_ID) return receive();
  if (uploading.hasPlace(registrant)) return uploading.run(registrant, receive);
  throw new Refused('rate_limited', TOO_MANY_UPLOADS, undefined, RETRY_SECONDS);
}

interface Upload {
  readonly context: Context;
  readonly request: UploadRequest;
  readonly grant: UploadGrant;
  /** Bytes. */
  readonly announced: number;
}

/** Its bytes count for the quota of the publisher and for the disk before they arrive. */
async function receiveNew(upload: Upload, publisherId: string): Promise<UploadReceipt> {
  const { context, grant, announced } = upload;
  const { database, disk, reservations } = context;
  const begin = (tx: Tx) => reserveUpload(tx, context, { publisherId, bytes: announced });
  const reservation = await database.transaction().execute(begin);
  reservations.keep(reservation);
  try {
    const space = await disk.reserve(grant.registrant, announced);
    const archive = await storeArchive(upload, reservation, space.use).finally(space.release);
    reservations.forget(reservation);
    return { size: archive.size, sha256: archive.sha256 };
  } catch (error) {
    await reservations.cancel(reservation);
    throw error;
  }
}

async function storeArchive(
  upload: Upload,
  reservation: string,
  use: (bytes: number) => void,
): Promise<StoredObject> {
  const { context, request, announced } = upload;
  const { storage } = context;
  const key = `${getArchiveFolder(request.params)}/${randomUUID()}.zip`;
  const archive = await storage.write(key, Readable.from(readChunks(request.raw, use)), announced);
  try {
    requireWhole(request, archive.size, announced);
    if (!(await keepArchive(upload, archive, reservation))) await storage.remove(key);
  } catch (error) {
    // After any other error the transaction may have been committed; if not, a job removes the archive.
    if (error instanceof Refused) await storage.remove(key);
    throw error;
  }
  return archive;
}

/** The version has an archive: the answer to the same bytes may have been lost. They are not stored again. */
async function receiveAgain({ context, request, grant, announced }: Upload): Promise<UploadReceipt> {
  const hash = createHash('sha256');
  let size = 0;
  for await (const chunk of readChunks(request.raw)) {
    size += chunk.length;
    hash.update(chunk);
  }
  requireWhole(request, size, announced);
  const sha256 = hash.digest('hex');
  // Read again, because the node may have been banned or deleted during the transfer.
  const version = await getUploadTarget(context.database, grant.versionId);
  await requireRegistration(context.database, version.publisher_id, grant);
  if (version.archive_sha256 !== sha256) throw differentArchive(version.version);
  return { size, sha256 };
}

function requireWhole(request: UploadRequest, size: number, announced: number): void {
  if (size !== announced)
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
 * @param use called with how many bytes were consumed
 */
async function* readChunks(body: Readable, use = (_bytes: number) => {}): AsyncGenerator<Buffer> {
  // Not `yield*`, which would pass the consumer's failure on.
  for await (const chunk of body.iterator({ destroyOnReturn: false })) {
    yield chunk;
    use(chunk.length);
  }
}

// Decided: an upload says how long it is, so that quotas and the disk are kept for it before it begins; else 411.
/** @returns the Content-Length in bytes */
function readAnnouncedSize({ headers }: UploadRequest, limit: number): number {
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
  if (length === undefined)
    throw new Refused('length_required', 'Send the archive with a Content-Length, not in chunks.');
  if (Number(length) > limit)
    throw new Refused('too_large', `The archive is larger than the limit of ${limit} bytes.`);
  return Number(length);
}

/**
 * Records the archive and enqueues its check.
 * @returns false if the version has the same archive already: a retry whose answer was lost
 */
async function keepArchive(
  { context, grant }: Upload,
  archive: StoredObject,
  reservation: string,
): Promise<boolean> {
  const { versionId, registrant: owner } = grant;
  return context.database.transaction().execute(async (tx) => {
    await context.reservations.end(tx, reservation);
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

function toUploadRefused(error: unknown, { errored }: Pick<Readable, 'errored'>): unknown {
  if (hasCode(error, 'object_too_large'))
    return new Refused('too_large', 'The archive is larger than the limit.');
  const { code = '' } = error as NodeJS.ErrnoException;
  if (FULL_CODES.includes(code))
    return new Refused('unavailable', 'The service has no disk space for the archive; try again later.');
  // The database or the bucket may have closed a connection, too.
  if (errored && CUT_CODES.includes(code))
    return new Refused('upload_incomplete', 'The upload ended before all bytes arrived.');
  return error;
}
