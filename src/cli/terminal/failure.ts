import { errorCodes } from '../../contract/error-codes.js';
import { type NamedProblem, regen, say, type Text } from '../../contract/schema/message.js';

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

/** The codes of the command line by the exit code that they have. Those of a service are in the contract. */
export const failureCodes = {
  1: ['unexpected'],
  2: [
    ...(['usage', 'invalid_pack', 'archive_limit', 'secrets_found', 'file_exists', 'declined'] as const),
    ...(['over_budget', 'price_unknown', 'data_unusable', 'webhook_not_verified'] as const),
    ...(['sign_in_unavailable', 'lock_invalid', 'other_registry'] as const),
  ],
  3: ['no_webhook_secret', 'unanswered', 'not_set', 'not_installed'],
  4: [
    ...(['publish_token_missing', 'sign_in_ended', 'sign_in_timeout', 'wrong_audience'] as const),
    ...(['keychain_unavailable', 'provider_unconfirmed'] as const),
  ],
  5: ['file_exists', 'batch_running', 'folder_in_use', 'folder_refused'],
  6: [
    ...(['migration_needed', 'findings', 'version_flagged', 'version_unreadable'] as const),
    ...(['webhook_not_accepted', 'task_failed', 'nothing_to_extend', 'data_damaged'] as const),
    ...(['archive_refused', 'version_refused', 'lock_mismatch'] as const),
  ],
  7: [
    ...(['issuer_unusable', 'digest_missing', 'digest_mismatch', 'refused', 'dns', 'unreachable'] as const),
    ...(['reset', 'tls', 'proxy', 'timeout', 'failed', 'not_json', 'empty', 'too_deep', 'redirect'] as const),
    ...(['changed', 'address', 'local_service_unavailable', 'not_running', 'port_taken', 'busy'] as const),
    ...(['out_of_resources', 'unexpected'] as const),
  ],
  8: ['still_running', 'status_unreadable', 'version_pending'],
  9: ['install_failed'],
  126: ['not_started'],
  127: ['not_started'],
} as const;

export type FailureCode = (typeof failureCodes)[keyof typeof failureCodes][number];

export interface FailureFacts {
  /** Stable, for scripts: the code of the service, or of the command line. */
  readonly code: string;
  readonly exit: number;
  /** What to do about it, in one line. */
  readonly hint?: Text;
  /** Why a task failed; the message also names the task. */
  readonly reason?: string;
  readonly status?: number;
  readonly requestId?: string;
  readonly details?: readonly FailureDetail[];
}

/** One of several problems: a predicate after its place, or a sentence. */
export type FailureDetail = NamedProblem;

/** An error that is reported to the user. The message says what failed, in one line. */
export class Failure extends Error {
  override readonly name = 'Failure';

  readonly facts: FailureFacts;

  /**
   * @param text the message with the names in it
   * @param facts without an exit code, it has that of its code
   */
  constructor(
    readonly text: Text,
    facts: Omit<FailureFacts, 'exit'> & { readonly exit?: number },
  ) {
    super(String(text));
    this.facts = { ...facts, exit: facts.exit ?? findExit(facts.code) };
  }
}

export function findExit(code: string): number {
  const [own] = listExits(code);
  const known = (errorCodes as Readonly<Record<string, { readonly exit: number }>>)[code];
  return own ?? known?.exit ?? exitCodes.unexpected;
}

/** Lists the exit codes that a code of the command line may have, the usual one first. */
export function listExits(code: string): number[] {
  const having = Object.entries(failureCodes).filter(([, codes]) => codes.some((one) => one === code));
  return having.map(([exit]) => Number(exit));
}

/** Writes one problem: a predicate after its place, or a sentence after its place and a colon. */
export function formatDetail({ path, message }: FailureDetail, bold = (text: string) => text): string {
  return `${bold(path)}${/^\p{Lu}/u.test(String(message)) ? ':' : ''} ${message}`;
}

/** Creates a failure for wrong usage; nothing was sent. */
export function usage(message: Text, hint?: Text, details?: FailureFacts['details']): Failure {
  return new Failure(message, {
    code: 'usage',
    ...(hint && { hint }),
    ...(details && { details }),
  });
}

export const SIGN_IN_HINT = say`Sign in with \`${regen('auth login')}\`, or with a token: ${regen('auth login', '--with-token < token.txt')}`;
