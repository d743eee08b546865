import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LockTimeout, takeLock } from '../disk/lock.js';
import { readPrivateFile, writePrivateFile } from '../disk/private-file.js';
import { FolderInUse, OwnerTokenInvalid, type ServiceFile } from './start-failures.js';

/** A data folder held by this service alone. */
export interface DataFolder {
  readonly path: string;
  /** Whether what lies in it outlives the service. */
  readonly durable: boolean;
  /** The embedded owner's bearer token, made once for the folder. */
  readonly ownerToken: string;
  /** Says in `service.json` where this service listens. */
  announce(service: ServiceFile): void;
  /** Takes the announcement back and lets others have the folder. */
  release(): void;
}

/**
 * Takes a data folder, made if need be.
 * @param data absent: a private temporary folder, removed at the end
 * @throws FolderInUse, OwnerTokenInvalid
 */
export function openFolder(data: string | undefined): DataFolder {
  const path = data ?? mkdtempSync(join(tmpdir(), 'regen-'));
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const lock = lockFolder(path);
  const token = releasing(lock, () => ownerToken(join(path, 'owner.token')));
  const announcement = join(path, 'service.json');
  let announced: ServiceFile | undefined;
  let announceAgain: NodeJS.Timeout | undefined;
  return {
    path,
    durable: data !== undefined,
    ownerToken: token,
    announce: (service) => {
      announced = service;
      announceAgain = keep(announcement, `${JSON.stringify(service)}\n`);
    },
    release: () => {
      clearInterval(announceAgain);
      if (announced && readServiceFile(path)?.instance === announced.instance)
        rmSync(announcement, { force: true });
      lock.release();
      if (data === undefined) rmSync(path, { recursive: true, force: true });
    },
  };
}

/** Writes a file, and again whenever it was removed or changed: without it nobody finds the service that runs. */
function keep(path: string, content: string): NodeJS.Timeout {
  const write = () => writePrivateFile(path, content);
  write();
  const check = () => {
    try {
      if (readPrivateFile(path) !== content) write();
    } catch {
      // A folder that cannot be read or written now may be so again in a moment.
    }
  };
  return setInterval(check, 1_000).unref();
}

/** Makes a folder, or empties the one that is there. @returns its path */
export function emptyFolder(path: string): string {
  rmSync(path, { recursive: true, force: true });
  mkdirSync(path, { mode: 0o700 });
  return path;
}

/** @returns undefined where no service announced itself in the folder, or what is there cannot be read as that */
export function readServiceFile(folder: string): ServiceFile | undefined {
  try {
    return JSON.parse(readPrivateFile(join(folder, 'service.json')) ?? 'null') ?? undefined;
  } catch {
    return undefined;
  }
}

function lockFolder(path: string): { release(): void } {
  try {
    return takeLock(join(path, 'service.lock'), 0);
  } catch (error) {
    if (error instanceof LockTimeout) throw new FolderInUse(path, readServiceFile(path));
    throw error;
  }
}

function releasing<Result>(lock: { release(): void }, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    lock.release();
    throw error;
  }
}

const tokenForm = /^regen_owner_[A-Za-z0-9_-]{43}$/;

/** @throws OwnerTokenInvalid where the file holds anything else, which might be easy to guess */
function ownerToken(path: string): string {
  const existing = readPrivateFile(path)?.trim();
  if (existing !== undefined) {
    if (tokenForm.test(existing)) return existing;
    throw new OwnerTokenInvalid(path);
  }
  const token = `regen_owner_${randomBytes(32).toString('base64url')}`;
  writePrivateFile(path, `${token}\n`);
  return token;
}
