import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LockTimeout, takeLock } from '../../disk/lock.js';
import { readPrivateFile, writePrivateFile } from '../../disk/private-file.js';
import { FolderInUse, OwnerTokenInvalid, type ServiceFile } from '../configuration/start-errors.js';
import { DataUnusable } from '../database/data-unusable.js';

/** The embedded database of a data folder. */
export const DATABASE = 'regen.db';

/** A data folder that this service has locked. */
export interface DataFolder extends Disposable {
  readonly path: string;
  /** Whether its content outlives the service. */
  readonly durable: boolean;
  /** The last service in it ended without releasing it. */
  readonly endedUncleanly: boolean;
  /** The owner's bearer token, created with the folder. */
  readonly ownerToken: string;
  /** Where the owner's clients reach the service: a socket that only who owns the folder can create or open. */
  readonly socketPath: string;
  setOwnerToken(token: string): void;
  /** Writes to `service.json` where this service listens, and calls `onLost` once the database was removed. */
  announce(service: ServiceFile, onLost: (error: DataUnusable) => void): void;
  /** Removes the announcement and unlocks the folder. */
  release(): void;
}

/** The temporary folders in use. Each holds a credential, so it is removed even if its service is not stopped. */
const temporary = new Set<string>();
process.on('exit', () => {
  for (const path of temporary) {
    try {
      rmSync(path, { recursive: true, force: true });
    } catch {
      // Windows keeps files that are open.
    }
  }
});

/**
 * Locks a data folder, creating it if necessary.
 * @param data absent: a private temporary folder, removed on release
 * @param holdsDatabase `false` if the database is elsewhere
 * @throws FolderInUse, OwnerTokenInvalid, DataUnusable
 */
export function openDataFolder(data: string | undefined, holdsDatabase = true): DataFolder {
  const path = data ?? mkdtempSync(join(tmpdir(), 'regen-'));
  if (data === undefined) temporary.add(path);
  mkdirSync(path, { recursive: true, mode: 0o700 });
  refuseSharedFolder(path);
  const lock = lockFolder(path);
  const tokenFile = join(path, 'owner.token');
  let newestToken: string;
  let socket: ReturnType<typeof prepareSocket>;
  try {
    if (holdsDatabase) refuseLostDatabase(path);
    newestToken = loadOwnerToken(tokenFile);
    socket = prepareSocket(path);
  } catch (error) {
    lock.release();
    throw error;
  }
  const announcement = join(path, 'service.json');
  const endedUncleanly = existsSync(announcement);
  let announced: ServiceFile | undefined;
  let announceAgain: NodeJS.Timeout | undefined;
  const release = () => {
    clearInterval(announceAgain);
    if (announced && readServiceFile(path)?.instance === announced.instance)
      rmSync(announcement, { force: true });
    socket.remove();
    lock.release();
    if (data === undefined) rmSync(path, { recursive: true, force: true });
    temporary.delete(path);
  };
  return {
    path,
    durable: data !== undefined,
    endedUncleanly,
    get ownerToken() {
      return newestToken;
    },
    socketPath: socket.path,
    setOwnerToken: (newToken) => {
      if (newToken === newestToken) return;
      newestToken = newToken;
      writePrivateFile(tokenFile, `${newToken}\n`);
    },
    announce: (service, onLost) => {
      announced = service;
      const database = join(path, DATABASE);
      const hasDatabase = existsSync(database);
      const content = `${JSON.stringify(service)}\n`;
      writePrivateFile(announcement, content);
      // Without these files clients cannot find the service. Another token may be meant for the next start.
      announceAgain = keepFiles(() => {
        // Nothing is written into a folder that was removed or emptied, so that a backup can be restored there.
        if (hasDatabase && !existsSync(database)) {
          clearInterval(announceAgain);
          return onLost(new DataUnusable(`${database} was removed, so the service has ended.`));
        }
        if (readPrivateFile(announcement) !== content) writePrivateFile(announcement, content);
        if (!existsSync(tokenFile)) writePrivateFile(tokenFile, `${newestToken}\n`);
      });
    },
    release,
    [Symbol.dispose]: release,
  };
}

/** @throws DataUnusable if a folder holds no embedded database */
export function requireDatabase(folder: string): void {
  if (existsSync(join(folder, DATABASE))) return;
  throw new DataUnusable(
    `There is no ${DATABASE} in ${folder}. Name the data folder of the service with --data, or its configuration with --config.`,
  );
}

/** Others could replace the files in it, however private each file is. */
function refuseSharedFolder(path: string): void {
  const { mode } = statSync(path);
  if (process.platform === 'win32' || (mode & 0o002) === 0) return;
  throw new DataUnusable(
    `Every user of this machine may change ${path} (mode ${(mode & 0o7777).toString(8)}). Run chmod 700 on it, or choose another folder.`,
  );
}

/** One page of SQLite, which cannot hold even the schema. */
const PAGE_BYTES = 4096;

/**
 * An empty database beside stored files means that the database was lost, not that the folder is new. A young one lies in
 * its log, and its file alone has one page.
 */
function refuseLostDatabase(path: string): void {
  const objects = join(path, 'objects');
  const sizeOf = (name: string) => statSync(join(path, name), { throwIfNoEntry: false })?.size ?? 0;
  const bytes = sizeOf(DATABASE);
  if (bytes > PAGE_BYTES || (bytes > 0 && sizeOf(`${DATABASE}-wal`) > 0) || !existsSync(objects)) return;
  if (readdirSync(objects).every((name) => name.startsWith('.'))) return;
  throw new DataUnusable(
    `${join(path, DATABASE)} is missing or empty, but ${objects} holds files. Restore the database from a copy, or move the folder away to start over.`,
  );
}

/**
 * Replaces the owner's token in a data folder that no service is using.
 * @throws FolderInUse
 */
export function rotateOwnerTokenIn(data: string): void {
  using folder = openDataFolder(data);
  folder.setOwnerToken(createOwnerToken());
}

function keepFiles(restore: () => void): NodeJS.Timeout {
  const check = () => {
    try {
      restore();
    } catch {
      // The folder may be readable and writable again at the next check.
    }
  };
  return setInterval(check, 1_000).unref();
}

/** Creates a folder, or empties an existing one. @returns its path */
export function emptyFolder(path: string): string {
  rmSync(path, { recursive: true, force: true });
  mkdirSync(path, { mode: 0o700 });
  return path;
}

/** @returns undefined if no service has announced itself in the folder or the file is not readable */
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

const OWNER_TOKEN_PATTERN = /^regen_owner_[A-Za-z0-9_-]{43}$/;

/** @throws OwnerTokenInvalid if the file holds anything else, which might be easy to guess */
function loadOwnerToken(path: string): string {
  const existing = readPrivateFile(path)?.trim();
  if (existing !== undefined) {
    if (OWNER_TOKEN_PATTERN.test(existing)) return existing;
    throw new OwnerTokenInvalid(path);
  }
  const token = createOwnerToken();
  writePrivateFile(path, `${token}\n`);
  return token;
}

export function createOwnerToken(): string {
  return `regen_owner_${randomBytes(32).toString('base64url')}`;
}

/** Unix limits the path of a socket to 104 bytes or a few more. */
const MAX_SOCKET_PATH_BYTES = 100;

/** Chooses the path of the socket, and removes the one of a service that was killed. */
function prepareSocket(folder: string): { readonly path: string; remove(): void } {
  if (process.platform === 'win32') return { path: `\\\\.\\pipe\\regen-${randomUUID()}`, remove: () => {} };
  const path = join(folder, 'service.sock');
  if (Buffer.byteLength(path) <= MAX_SOCKET_PATH_BYTES) {
    rmSync(path, { force: true });
    return { path, remove: () => rmSync(path, { force: true }) };
  }
  const short = mkdtempSync('/tmp/regen-');
  return { path: join(short, 'service.sock'), remove: () => rmSync(short, { recursive: true, force: true }) };
}
