import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream, existsSync, mkdirSync, readdirSync } from 'node:fs';
import { copyFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import { getTaskFacts, type TaskOperation } from '../../contract/index.js';
import { parseJson } from '../../contract/json.js';
import { readFileType } from '../../disk/file-type.js';
import { openFolderFile, readFolderFile } from '../../disk/folder-file.js';
import { createPartPath } from '../../disk/part-file.js';
import { writePrivateFile } from '../../disk/private-file.js';
import type { Context } from '../operation/context.js';
import { type Engine, EngineFailure, type EngineFile, type EngineJob } from '../operation/engine.js';
import { ACCEPTED_TYPES } from './remote/download-results.js';

/** What an engine answered to a request. The files lie beside it. */
const Cassette = z.object({
  files: z
    .array(
      z.object({ sha256: z.string(), ext: z.string().max(10), role: z.enum(['video', 'cover']).optional() }),
    )
    .max(1000)
    .optional(),
  failure: z.object({ code: z.string().max(100), message: z.string().max(10_000) }).optional(),
});

type Cassette = z.output<typeof Cassette>;

/** What a recording is of, for people and to compare it. */
const Request = z.object({ operation: z.string(), request: z.record(z.string(), z.unknown()) });

const MAX_CASSETTE_BYTES = 1024 ** 2;

/** What says nothing about a request: the vendor returns it, or it is the operator's trouble. */
const UNRECORDED_FIELDS = ['payload'];
const UNRECORDED_FAILURES = ['vendor_account', 'vendor_credential_refused', 'not_recorded'];

/**
 * Creates an engine that keeps what another one answers.
 * @param folder of the recordings
 */
export function createRecordingEngine<Some extends Engine>(
  engine: Some,
  folder: string,
  log: Context['log'],
): Some {
  const run: Engine['run'] = async (job, ...rest) => {
    const keep = async (outcome: readonly EngineFile[] | EngineFailure) => {
      await record(folder, job, outcome).catch((error) =>
        log('error', 'A result could not be recorded.', { task: job.id, folder, error: String(error) }),
      );
    };
    try {
      const outcome = await engine.run(job, ...rest);
      if ('files' in outcome) await keep(outcome.files);
      return outcome;
    } catch (error) {
      const isAnswer = error instanceof EngineFailure && !error.mayBeCharged;
      if (isAnswer && !UNRECORDED_FAILURES.includes(error.code)) await keep(error);
      throw error;
    }
  };
  return { ...engine, needsImages: true, run };
}

/** Creates an engine that answers with recordings, and refuses what another one would refuse. It makes no requests. */
export function createReplayEngine<Some extends Engine>(engine: Some, folder: string): Some {
  const { checkRequest, checkImages } = engine;
  const run: Engine['run'] = async (job, signal) => {
    const digest = await digestRequest(job);
    const path = join(folder, `${digest}.json`);
    if (!existsSync(path)) throw notRecorded(job, folder);
    const { data: cassette } = Cassette.safeParse(parseJson(`${readFolderFile(path, MAX_CASSETTE_BYTES)}`));
    if (cassette?.failure) throw new EngineFailure(cassette.failure.message, { code: cassette.failure.code });
    const roles = cassette?.files?.map(({ role }) => role);
    const isOfKind =
      getTaskFacts(job.operation).kind === 'video' ? roles?.[0] === 'video' : !roles?.some(Boolean);
    if (!cassette?.files?.length || !isOfKind) throw damaged(digest);
    const files: EngineFile[] = [];
    for (const [at, file] of cassette.files.entries())
      files.push(
        await replayFile(
          { folder, digest, at, media: file.role === 'video' ? 'video' : 'image' },
          file,
          job.folder,
          signal,
        ),
      );
    return { files };
  };
  const atOnce = Math.min(engine.atOnce, 8);
  return {
    ...{ name: 'replay', atOnce, run },
    ...(checkRequest && { checkRequest }),
    ...(checkImages && { checkImages }),
  } as Some;
}

/** @returns undefined if the file is not a recording */
function readRequest(path: string): z.output<typeof Request> | undefined {
  try {
    return Request.safeParse(parseJson(`${readFolderFile(path, MAX_CASSETTE_BYTES)}`)).data;
  } catch {
    return undefined;
  }
}

/** The fields of a request that count, as JSON. */
function listRecordedFields(operation: TaskOperation, request: EngineJob['request']): Map<string, string> {
  const fields = listFields(operation, request);
  return new Map(fields.map(([name, value]) => [name, JSON.stringify(value)]));
}

function listFields(operation: TaskOperation, request: EngineJob['request']): [string, unknown][] {
  // A video is known by its bytes, because its URL expires.
  const { videoFields = [] } = getTaskFacts(operation);
  const ignored: readonly string[] = [...UNRECORDED_FIELDS, ...videoFields];
  return Object.entries(request).filter(([name]) => !ignored.includes(name));
}

/** Digests what a request asks for: the fields, and the bytes of the images wherever they came from. */
async function digestRequest({ operation, request, images }: EngineJob): Promise<string> {
  const fields = listFields(operation, request);
  const inputs = Object.entries(images).map(async ([name, path]) => [name, await hashFile(path)]);
  const sorted = [fields, await Promise.all(inputs)].map((entries) =>
    entries.sort(([one], [other]) => (String(one) < String(other) ? -1 : 1)),
  );
  return createHash('sha256')
    .update(JSON.stringify([operation, ...sorted]))
    .digest('hex');
}

async function hashFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}

const nameFile = (digest: string, at: number, ext: string) => `${digest}.${at}.${ext}`;

async function record(
  folder: string,
  job: EngineJob,
  outcome: readonly EngineFile[] | EngineFailure,
): Promise<void> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const digest = await digestRequest(job);
  const { operation, request } = job;
  const write = (answer: Cassette) =>
    writePrivateFile(
      join(folder, `${digest}.json`),
      `${JSON.stringify({ operation, request, ...answer }, null, 2)}\n`,
    );
  if (outcome instanceof EngineFailure)
    return write({ failure: { code: outcome.code, message: outcome.message } });
  const files = [];
  for (const [at, { path, role }] of outcome.entries()) {
    const ext = (await readFileType(path))?.ext ?? 'bin';
    const part = createPartPath(folder);
    try {
      await copyFile(path, part);
      await rename(part, join(folder, nameFile(digest, at, ext)));
    } finally {
      await rm(part, { force: true });
    }
    files.push({ sha256: await hashFile(path), ext, ...(role && { role }) });
  }
  // Last, so that a recording that is interrupted is none.
  write({ files });
}

interface Recorded {
  readonly folder: string;
  readonly digest: string;
  readonly at: number;
  readonly media: keyof typeof ACCEPTED_TYPES;
}

/** A recording may come from anyone: its file is what its bytes are, and as it was recorded. */
async function replayFile(
  { folder, digest, at, media }: Recorded,
  { sha256, ext, role }: NonNullable<Cassette['files']>[number],
  into: string,
  signal: AbortSignal,
): Promise<EngineFile> {
  if (!/^[a-z0-9]+$/.test(ext)) throw damaged(digest);
  const path = join(into, nameFile(digest, at, ext));
  try {
    const { descriptor } = openFolderFile(join(folder, nameFile(digest, at, ext)), { links: false });
    await pipeline(createReadStream('', { fd: descriptor }), createWriteStream(path), { signal });
  } catch (error) {
    signal.throwIfAborted();
    throw damaged(digest, error);
  }
  const contentType = (await readFileType(path))?.mediaType;
  if (!ACCEPTED_TYPES[media].test(contentType ?? '') || (await hashFile(path)) !== sha256)
    throw damaged(digest);
  return { path, contentType: contentType as string, ...(role && { role }) };
}

function notRecorded(job: EngineJob, folder: string): EngineFailure {
  const { prompt } = job.request;
  const about =
    typeof prompt === 'string' && prompt !== '' ? ` with the prompt "${prompt.slice(0, 100)}"` : '';
  const message = `There is no recording of this request: ${job.operation}${about}. ${compareNearest(job, folder)}`;
  return new EngineFailure(message, { code: 'not_recorded' });
}

/** How many recordings a request without one is compared with. */
const MAX_COMPARED = 1000;

/** Says in what the recording that is most like a request differs from it. */
function compareNearest(job: EngineJob, folder: string): string {
  const own = listRecordedFields(job.operation, job.request);
  const names = readdirSync(folder).filter((name) => name.endsWith('.json'));
  const differing = names.slice(0, MAX_COMPARED).flatMap((name) => {
    const data = readRequest(join(folder, name));
    if (data?.operation !== job.operation) return [];
    const other = listRecordedFields(job.operation, data.request);
    const fields = [...new Set([...own.keys(), ...other.keys()])];
    return [fields.filter((field) => own.get(field) !== other.get(field))];
  });
  const [nearest] = differing.sort((one, two) => one.length - two.length);
  if (!nearest) return 'No request for this operation was recorded.';
  return `The nearest recording has another ${nearest.join(', ') || 'image or video'}.`;
}

function damaged(digest: string, cause?: unknown): EngineFailure {
  const message = `The recording ${digest.slice(0, 12)} is damaged or incomplete; record it again.`;
  return new EngineFailure(message, { code: 'recording_damaged', cause });
}
