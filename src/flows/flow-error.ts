import { ResponseError } from '../client/errors.js';

/** Why a flow stopped. The command line maps each code to an exit code and a hint. */
export type FlowErrorCode =
  | 'usage'
  | 'invalid_pack'
  | 'manifest_missing'
  | 'invalid_python'
  | 'archive_limit'
  | 'secrets_found'
  | 'findings'
  | 'empty_pack'
  | 'breaking_changes'
  | 'not_signed'
  | 'statement_invalid'
  | 'key_changed'
  | 'source_differs'
  | 'version_exists'
  | 'same_version_exists'
  | 'version_flagged'
  | 'version_unreadable'
  | 'no_active_version'
  | 'stage_unsupported'
  | 'still_checking'
  | 'version_pending'
  | 'nothing_to_download'
  | 'version_withdrawn'
  | 'only_doubtful'
  | 'digest_missing'
  | 'digest_mismatch'
  | 'lock_invalid'
  | 'lock_mismatch'
  | 'archive_refused'
  | 'version_refused'
  | 'folder_refused'
  | 'not_installed'
  | 'install_failed'
  | 'busy'
  | 'other_registry'
  | 'file_exists'
  | 'folder_exists'
  | 'unknown_placeholder'
  | 'same_output'
  | 'task_not_found'
  | 'task_hidden'
  | 'ambiguous_task'
  | 'unanswered'
  | 'nothing_to_extend'
  | 'still_running'
  | 'task_failed'
  | 'not_limited';

interface FlowErrorFacts {
  /** What the next step needs: the id of a task, a node and its version, the next free version. */
  readonly subject?: string;
  /** A code of the service that says more. */
  readonly serviceCode?: string;
  /** Of several that failed: the code that each one has, if all have the same. */
  readonly sharedCode?: string | undefined;
  readonly details?: readonly { readonly path: string; readonly message: string }[] | undefined;
}

/** The message says what went wrong, in one line. */
export class FlowError extends Error {
  override readonly name = 'FlowError';

  constructor(
    readonly code: FlowErrorCode,
    message: string,
    readonly facts: FlowErrorFacts = {},
  ) {
    super(message);
  }
}

/**
 * Refuses an answer about something other than what was asked for, so that it decides nothing.
 * @throws ResponseError
 */
export function requireSubject(service: string, asked: string, answered: string): void {
  if (asked.toLowerCase() === answered.toLowerCase()) return;
  throw new ResponseError('unexpected', `${service} answered about ${answered} instead of ${asked}.`, 200);
}
