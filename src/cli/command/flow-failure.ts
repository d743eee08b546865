import type { FlowError, FlowErrorCode } from '../../flows/flow-error.js';
import { exitCodes, Failure } from '../terminal/failure.js';
import { shellWord } from '../terminal/text.js';

interface FlowFailure {
  readonly exit: number;
  /** The code in the output of the command line, if it is another one. */
  readonly code?: string;
  readonly hint?: string | ((subject: string) => string);
}

/** The exit code of each error of a flow, and the command or flag that helps. */
const FLOW_FAILURES: Readonly<Record<FlowErrorCode, FlowFailure>> = {
  usage: { exit: exitCodes.usage },
  task_failed: { exit: exitCodes.endedBadly },
  invalid_pack: { exit: exitCodes.usage },
  manifest_missing: {
    exit: exitCodes.usage,
    code: 'invalid_pack',
    hint: (dir) => `Create one with: regen node init${dir && ` ${shellWord(dir)}`}`,
  },
  archive_limit: { exit: exitCodes.usage },
  secrets_found: {
    exit: exitCodes.usage,
    hint: 'Add them to .regenignore, or pass --allow-secrets to publish them anyway.',
  },
  findings: { exit: exitCodes.endedBadly, hint: 'Fix it, or pass --allow-findings to publish anyway.' },
  version_exists: {
    exit: exitCodes.conflict,
    hint: (next) => `Change the version to ${next}, or any unused one, and publish again.`,
  },
  same_version_exists: {
    exit: exitCodes.conflict,
    code: 'version_exists',
    hint: 'Pass --skip-existing to treat this as success.',
  },
  version_flagged: {
    exit: exitCodes.endedBadly,
    hint: 'Fix it, and publish it with the next version number, because this one is used up: regen version bump',
  },
  version_unreadable: { exit: exitCodes.endedBadly },
  still_checking: {
    exit: exitCodes.stillGoing,
    code: 'still_running',
    hint: (version) => `See the verdict later with: regen version bulk ${version}`,
  },
  digest_missing: {
    exit: exitCodes.unreachable,
    hint: 'Try again. If this persists, contact the operator of the registry.',
  },
  digest_mismatch: {
    exit: exitCodes.unreachable,
    hint: 'Try again. If this persists, contact the service operator.',
  },
  file_exists: { exit: exitCodes.usage, hint: 'Choose another path, or pass --force to overwrite it.' },
  folder_exists: {
    exit: exitCodes.usage,
    code: 'usage',
    hint: 'Add a / to the end to save into the folder.',
  },
  unknown_placeholder: { exit: exitCodes.usage, code: 'usage', hint: (known) => `Use ${known}.` },
  same_output: {
    exit: exitCodes.usage,
    code: 'usage',
    hint: 'Use a folder (-o results/), or {task_id} in the name.',
  },
  task_not_found: {
    exit: exitCodes.notFound,
    code: 'not_found',
    hint: 'List the tasks that were started from here with: regen task list',
  },
  ambiguous_task: { exit: exitCodes.usage, code: 'usage', hint: 'Type more of the id.' },
  unanswered: {
    exit: exitCodes.notFound,
    hint: (id) => `Repeat it with the same idempotency key: regen task rerun ${id}`,
  },
  nothing_to_extend: { exit: exitCodes.endedBadly },
  still_running: { exit: exitCodes.stillGoing, hint: (id) => `Wait for it with: regen task wait ${id}` },
};

/** Adds to the error of a flow what the command line knows: its exit code, and what to do. */
export function toFlowFailure({ code, message, facts }: FlowError): Failure {
  const { subject = '', serviceCode, details } = facts;
  const { exit, code: shown = code, hint } = FLOW_FAILURES[code];
  return new Failure(message, {
    code: serviceCode ?? shown,
    exit,
    ...(hint && { hint: typeof hint === 'string' ? hint : hint(subject) }),
    ...(details && { details }),
  });
}
