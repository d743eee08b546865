import type { Problem } from '../../contract/schema/schema-types.js';

/** The content of `service.json` in the data folder of a running service. */
export interface ServiceFile {
  /** The kinds of tasks or operations whose results are previews made on this machine. */
  readonly previews?: readonly string[];
  readonly url: string;
  /** A Unix socket or named pipe that reaches the same service. */
  readonly socket: string;
  readonly pid: number;
  readonly version: string;
  /** Random, new at each start. */
  readonly instance: string;
  /** The PostgreSQL database without its password, and the setting `storage`, if they are not in the data folder. */
  readonly database?: string;
  readonly storage?: string;
}

/** The key of a setting as TOML writes it. */
export function formatPath(path: Problem['path']): string {
  return path.map((key) => (/^[\w-]+$/.test(String(key)) ? key : JSON.stringify(key))).join('.');
}

/** The configuration is invalid; `problems` lists everything that is wrong. */
export class InvalidConfiguration extends Error {
  override readonly name = 'InvalidConfiguration';
  readonly code = 'invalid_configuration';

  readonly problems: readonly Problem[];

  constructor(given: readonly Problem[]) {
    const problems = given.map((one) => ({ ...one, about: one.about ?? formatPath(one.path) }));
    const sentences = problems.map(({ about, message }) => `${about || 'configuration'} ${message}`);
    super(
      sentences.length === 1
        ? `The configuration is not valid: ${sentences[0]}.`
        : `The configuration is not valid:\n${sentences.map((sentence) => `- ${sentence}`).join('\n')}`,
    );
    this.problems = problems;
  }
}

export class FolderInUse extends Error {
  override readonly name = 'FolderInUse';
  readonly code = 'folder_in_use';

  /** @param running absent while the other service is starting or stopping */
  constructor(
    readonly folder: string,
    readonly running: ServiceFile | undefined,
  ) {
    const who = running ? ` at ${running.url} (process ${running.pid})` : '';
    super(`Another service${who} is using ${folder}; stop it or choose another folder.`);
  }
}

/** The data folder's `owner.token` does not contain a token that the service created. */
export class OwnerTokenInvalid extends Error {
  override readonly name = 'OwnerTokenInvalid';
  readonly code = 'owner_token_invalid';

  constructor(readonly file: string) {
    super(`${file} does not contain a valid owner's token; delete it to create a new one.`);
  }
}

/** The machine is out of something that the service needs to start. */
export class ResourceExhausted extends Error {
  override readonly name = 'ResourceExhausted';
  readonly code = 'out_of_resources';
}

const NO_SPACE = 'There is no space left on the disk of the data folder; free some, and start again.';
const NO_WRITING =
  'The disk of the data folder cannot be read or written; it may be full or damaged. Free some space, and start again.';
const NO_LARGER_FILES =
  'A file would be larger than the system allows; raise the limit with ulimit -f, and start again.';
const NO_HANDLES = 'Too many files are open; raise the limit with ulimit -n, and start again.';
const NO_DATABASE =
  'The database cannot be opened. Raise the limit of open files with ulimit -n, check who may write to the data folder, and start again.';
const EXHAUSTED: Readonly<Record<string, string>> = {
  ENOSPC: NO_SPACE,
  EDQUOT: NO_SPACE,
  EFBIG: NO_LARGER_FILES,
  SQLITE_FULL: NO_SPACE,
  EMFILE: NO_HANDLES,
  ENFILE: NO_HANDLES,
  SQLITE_CANTOPEN: NO_DATABASE,
};

/** Explains an error of the operating system that ended a start; leaves others unchanged. */
export function explainStartError(error: unknown): unknown {
  const { code = '' } = error as { code?: string };
  const reason = code.startsWith('SQLITE_IOERR') ? NO_WRITING : EXHAUSTED[code];
  return reason === undefined ? error : new ResourceExhausted(reason, { cause: error });
}

/** Another process listens on the port. */
export class PortTaken extends Error {
  override readonly name = 'PortTaken';
  readonly code = 'port_taken';

  constructor(
    readonly host: string,
    readonly port: number,
  ) {
    super(`Port ${port} on ${host} is already in use; choose another port, or 0 for any free one.`);
  }
}
