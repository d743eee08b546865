import { lstatSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Client } from '../../client/client.js';
import type { CallOptions } from '../../client/client-options.js';
import { ClientError, NetworkError } from '../../client/errors.js';
import { isRecord, parseJson } from '../../contract/json.js';
import { regen, say } from '../../contract/schema/message.js';
import { readPrivateFile } from '../../disk/private-file.js';
import { BodyTooLong, readBody } from '../../wire/read-body.js';
import { Failure } from '../terminal/failure.js';
import { type Credential, fixedCredential } from './choose-credential.js';
import type { Connect } from './clients.js';

/** What a service records in its folder while it runs. */
interface LocalRecord {
  readonly url: string;
  /** The socket or named pipe for all requests, because another program could take over its port. */
  readonly socket: string;
  readonly pid: number;
  readonly version: string;
  readonly instance: string;
  /** The kinds of tasks or operations that it only previews; absent in records of older releases. */
  readonly previews?: readonly string[];
  /** Where its data is, if not in the folder. */
  readonly database?: string;
  readonly storage?: string;
}

type Limits = Pick<CallOptions, 'timeoutMs' | 'signal'>;

/** A running service with its data in a folder of this machine. */
export interface LocalService extends LocalRecord {
  readonly owner: Credential;
  /** A client with this credential, and with the connection that the service was found with. */
  readonly client: Client;
  /** What makes its images and videos; absent in answers of older releases. */
  readonly engines?: Readonly<Record<string, string>>;
  /** What its vendors and ComfyUI do not do for it, with the reason. */
  readonly vendor_trouble?: readonly string[];
}

/**
 * Finds the running service of a data folder, from `service.json` and a check over the socket in the folder. Only the
 * owner of the folder can listen on that socket.
 * @param limits how long it may stay silent (default: as long as any service), and what stops waiting
 * @throws Failure if it runs and does not answer
 */
export async function findLocal(
  folder: string,
  connect: Connect,
  limits: Limits = {},
): Promise<LocalService | undefined> {
  const recorded = readPrivateFile(join(folder, 'service.json'));
  const ownerToken = readPrivateFile(join(folder, 'owner.token'))?.trim();
  const record = recorded && parseRecord(recorded);
  if (!record || !ownerToken || !isOwnSocket(record.socket, folder)) return undefined;
  const owner = fixedCredential(ownerToken, 'the embedded service');
  const running = await connectToRunning(record, owner, connect, limits);
  return running && { ...record, owner, ...running };
}

/** Sockets of other users are not trusted, for example in a folder that others can write to. */
function isOwnSocket(path: string, folder: string): boolean {
  if (process.platform === 'win32') return true;
  const socket = lstatSync(path, { throwIfNoEntry: false });
  return socket?.isSocket() === true && socket.uid === statSync(folder).uid;
}

/** Reads the address that the service of a folder recorded, without verifying it: only for display. */
export function readRecordedUrl(folder: string): string | undefined {
  const recorded = readPrivateFile(join(folder, 'service.json'));
  return recorded ? parseRecord(recorded)?.url : undefined;
}

function parseRecord(text: string): LocalRecord | undefined {
  try {
    const { url, socket, pid, version, instance, previews, database, storage } = JSON.parse(text);
    const isComplete =
      [url, socket, version, instance].every((value) => typeof value === 'string') && Number.isInteger(pid);
    if (!isComplete) return undefined;
    return {
      ...{ url, socket, pid, version, instance },
      ...(Array.isArray(previews) && { previews: previews.map(String) }),
      ...(typeof database === 'string' && { database }),
      ...(typeof storage === 'string' && { storage }),
    };
  } catch {
    return undefined;
  }
}

/** Connects to a service if it is the one that wrote the record. */
async function connectToRunning(
  { url, socket, pid, instance }: LocalRecord,
  owner: Credential,
  connect: Connect,
  limits: Limits,
): Promise<Pick<LocalService, 'client' | 'engines' | 'vendor_trouble'> | undefined> {
  try {
    const client = await connect(url, owner, { socketPath: socket });
    const { status, body } = await client.raw({ path: OWNER_PATH, retries: 0, ...limits });
    const answer = parseJson((await readBody(body, MAX_ANSWER_BYTES)).toString());
    // undici offers the connection to the next request in the next turn of the event loop.
    await new Promise(setImmediate);
    if (status !== 200 || !isRecord(answer) || answer.instance !== instance) return undefined;
    const vendor_trouble = listTroubles(answer);
    const engines = isRecord(answer.engines) && (answer.engines as Record<string, string>);
    return { client, ...(engines && { engines }), ...(vendor_trouble.length > 0 && { vendor_trouble }) };
  } catch (error) {
    if (error instanceof NetworkError && error.code === 'timeout') {
      throw new Failure(`The embedded service (process ${pid}) is running but does not answer.`, {
        code: 'timeout',
        hint: 'It may be paused or busy. Try again; if it stays silent, end it.',
      });
    }
    // Nothing or something else is listening, so the service is not running.
    if (error instanceof ClientError || error instanceof BodyTooLong) return undefined;
    throw error;
  }
}

const MAX_ANSWER_BYTES = 64 * 1024;

/** Says to the owner of a service how it is. */
export const OWNER_PATH = '/.well-known/regen-owner';

/** Lists in words what the vendors and ComfyUI of a service do not do for it. */
export function listTroubles({ vendors }: Readonly<Record<string, unknown>>): string[] {
  return (Array.isArray(vendors) ? vendors.filter(isRecord) : []).map(
    ({ vendor, reason, since }) => `${vendor}: ${reason} (since ${since})`,
  );
}

/**
 * Tells a running service to replace a secret.
 * @returns its response
 */
export async function rotateSecret(
  service: LocalService,
  secret: 'key' | 'token',
): Promise<Readonly<Record<string, unknown>>> {
  const { status, body } = await service.client.raw({
    method: 'POST',
    path: `${OWNER_PATH}/rotate-${secret}`,
    retries: 0,
  });
  const text = (await readBody(body, 4096)).toString();
  if (status === 200 || status === 204) return text === '' ? {} : JSON.parse(text);
  throw new Failure(
    `The service at ${service.url} did not replace the ${secret}: it responded with status ${status}.`,
    {
      code: 'local_service_unavailable',
      hint: say`It is version ${service.version}. Stop it with: ${regen('serve stop')}, then try again.`,
    },
  );
}

/** Asks a service to finish its work and stop, and waits until it has released its folder. */
export async function drainLocal(folder: string, service: LocalService, signal: AbortSignal): Promise<void> {
  await service.client.raw({ method: 'POST', path: `${OWNER_PATH}/stop`, retries: 0, signal });
  for (let tries = 0; tries < 600; tries++) {
    const recorded = readPrivateFile(join(folder, 'service.json'));
    if (!recorded || parseRecord(recorded)?.instance !== service.instance) return;
    await pause(50, undefined, { signal });
  }
  throw new Failure(`The service at ${service.url} (process ${service.pid}) did not stop.`, {
    code: 'local_service_unavailable',
    hint: 'It may still be busy. Try again later.',
  });
}
