import { errorCodes } from '../../contract/error-codes.js';

/** The exit codes of the command line. contract/error-codes.ts maps the errors of the service to them. */
export const exitCodes = {
  done: 0,
  unexpected: 1,
  usage: 2,
  notFound: 3,
  notAllowed: 4,
  conflict: 5,
  endedBadly: 6,
  unreachable: 7,
  stillGoing: 8,
  someFailed: 9,
  interrupted: 130,
  terminated: 143,
} as const;

function code(exits: number | readonly number[], meaning: string) {
  return { exits: [exits].flat() as readonly number[], meaning };
}

/**
 * Every code of the command line, with its exit codes, the usual one first, and its meaning. Those of a service are in
 * the contract.
 */
export const failureCodes = {
  usage: code(2, 'The command line is wrong; nothing was sent.'),
  invalid_pack: code(2, 'The manifest or the files of the node pack are not valid.'),
  archive_limit: code(2, 'The archive of the node pack would exceed a limit.'),
  secrets_found: code(2, 'Files of the node pack look like secrets.'),
  file_exists: code([2, 5], 'A file is in the way; --force overwrites it.'),
  declined: code(2, 'The answer to a confirmation was no.'),
  over_budget: code(2, 'The price is above --max-credits; nothing was started.'),
  price_unknown: code(2, 'The service publishes no price, so --max-credits cannot be enforced.'),
  data_unusable: code(2, 'The data folder cannot be used as it is.'),
  migration_needed: code(6, 'The data is of an earlier release and has to be upgraded.'),
  publish_token_missing: code(4, 'No personal access token was given for publishing.'),
  webhook_not_verified: code(2, 'The signature of a webhook is missing, wrong or too old.'),
  no_webhook_secret: code(3, 'No signing secret of webhooks is known.'),
  unanswered: code(3, 'A request got no response, so its task is not known.'),
  not_set: code(3, 'The setting has no value.'),
  sign_in_ended: code(4, 'The sign-in has expired or was revoked.'),
  sign_in_timeout: code(4, 'The sign-in was not completed in time.'),
  sign_in_unavailable: code(2, 'The service has no browser sign-in.'),
  wrong_audience: code(4, 'The identity provider issued a token for another service.'),
  issuer_unusable: code(7, 'The identity provider of the service cannot be used.'),
  keychain_unavailable: code(4, 'The keychain of this machine cannot be used.'),
  batch_running: code(5, 'Another process is running the same batch.'),
  folder_in_use: code(5, 'Another service uses the data folder.'),
  findings: code(6, 'A finding would flag the version; nothing was published.'),
  version_flagged: code(6, 'The registry flagged or banned the version.'),
  version_unreadable: code(6, 'The registry does not show the version.'),
  webhook_not_accepted: code(6, 'The receiver of a webhook did not answer with 2xx.'),
  task_failed: code(6, 'The task failed.'),
  nothing_to_extend: code(6, 'The task has no video to extend.'),
  data_damaged: code(6, 'Stored objects are missing, damaged or unknown.'),
  digest_missing: code(7, 'The registry sent an archive without its digest.'),
  digest_mismatch: code(7, 'A download differs from its digest.'),
  refused: code(7, 'The connection was refused.'),
  dns: code(7, 'The name of the host was not found.'),
  unreachable: code(7, 'The host cannot be reached.'),
  reset: code(7, 'The connection was closed before the response was complete.'),
  tls: code(7, 'The certificate was not accepted.'),
  proxy: code(7, 'The proxy cannot be reached or refused the connection.'),
  timeout: code(7, 'The request made no progress for too long.'),
  failed: code(7, 'The request failed.'),
  not_json: code(7, 'The response is not JSON.'),
  empty: code(7, 'The response has no body.'),
  too_deep: code(7, 'The response is nested too deeply.'),
  redirect: code(7, 'The service redirects to another address.'),
  changed: code(7, 'The file changed while it was transferred.'),
  local_service_unavailable: code(7, 'The embedded service could not be started.'),
  not_running: code(7, 'No service runs on the data folder.'),
  not_started: code([126, 127], 'The command of `admin exec` was not found or cannot be run.'),
  port_taken: code(7, 'Another program uses the port.'),
  busy: code(7, 'Another process holds a lock for too long.'),
  out_of_resources: code(7, 'The disk is full, or too many files are open.'),
  still_running: code(8, 'The command stopped waiting; the work continues.'),
  status_unreadable: code(8, 'The service cannot report the status of the task.'),
  version_pending: code(8, 'The registry has not finished checking the version.'),
  unexpected: code([1, 7], 'A bug, or a response that is not part of the contract: please report it.'),
};

export type FailureCode = keyof typeof failureCodes;

export interface FailureFacts {
  /** Stable, for scripts: the code of the service, or of the command line. */
  readonly code: string;
  readonly exit: number;
  /** What to do about it, in one line. */
  readonly hint?: string;
  readonly status?: number;
  readonly requestId?: string;
  readonly details?: readonly { readonly path: string; readonly message: string }[];
}

/** An error that is reported to the user. The message says what failed, in one line. */
export class Failure extends Error {
  override readonly name = 'Failure';

  readonly facts: FailureFacts;

  /** @param facts without an exit code, it has that of its code */
  constructor(message: string, facts: Omit<FailureFacts, 'exit'> & { readonly exit?: number }) {
    super(message);
    this.facts = { ...facts, exit: facts.exit ?? findExit(facts.code) };
  }
}

/** The usual exit code of a code of the command line or of a service. */
export function findExit(code: string): number {
  const own = failureCodes as Readonly<Record<string, { readonly exits?: readonly number[] }>>;
  const known = errorCodes as Readonly<Record<string, { readonly exit: number }>>;
  return own[code]?.exits?.[0] ?? known[code]?.exit ?? exitCodes.unexpected;
}

/** Creates a failure for wrong usage; nothing was sent. */
export function usage(message: string, hint?: string, details?: FailureFacts['details']): Failure {
  return new Failure(message, {
    code: 'usage',
    ...(hint && { hint }),
    ...(details && { details }),
  });
}

/** How to sign in, as a hint. */
export const SIGN_IN_HINT =
  'Sign in with `regen auth login`, or with a token: regen auth login --with-token < token.txt';
