import type { Problem } from '../contract/problems.js';

/** What `service.json` in a data folder says of the service that holds it. */
export interface ServiceFile {
  readonly url: string;
  readonly pid: number;
  readonly version: string;
  /** Random, new at each start. */
  readonly instance: string;
}

/** The configuration breaks a rule; `problems` names every one. */
export class InvalidConfiguration extends Error {
  override readonly name = 'InvalidConfiguration';

  constructor(readonly problems: readonly Problem[]) {
    const sentences = problems.map(({ path, message }) => `${path.join('.') || 'configuration'} ${message}`);
    super(`The configuration is not valid: ${sentences.join('; ')}.`);
  }
}

/** Another service works on the data folder. */
export class FolderInUse extends Error {
  override readonly name = 'FolderInUse';

  /** @param running absent while that one is still starting or about to end */
  constructor(
    readonly folder: string,
    readonly running: ServiceFile | undefined,
  ) {
    const who = running ? ` at ${running.url} (process ${running.pid})` : '';
    super(`Another service${who} works on ${folder}; stop it or choose another folder.`);
  }
}

/** The data folder's `owner.token` holds no token that the service made. */
export class OwnerTokenInvalid extends Error {
  override readonly name = 'OwnerTokenInvalid';

  constructor(readonly file: string) {
    super(`${file} does not hold an owner's token; delete it to have a new one made.`);
  }
}

/** Something else listens on the port. */
export class PortTaken extends Error {
  override readonly name = 'PortTaken';

  constructor(
    readonly host: string,
    readonly port: number,
  ) {
    super(`Port ${port} of ${host} is taken; choose another one, or 0 for a free one.`);
  }
}
