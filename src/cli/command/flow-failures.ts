import { regen, say, type Text } from '../../contract/schema/message.js';
import type { FlowError, FlowErrorCode } from '../../flows/flow-error.js';
import { Failure, findExit } from '../terminal/failure.js';
import { shellWord } from '../terminal/text.js';
import type { ParsedCommand } from './command.js';

/** How the command line calls an error of a flow, if not by its code, and the command or flag that helps. */
interface FlowFailure {
  readonly code?: string;
  readonly hint?: Text | ((subject: string, words: string) => Text);
}

/** What a command takes before the folder of a pack, or in its place. */
function findArguments(words: string, pack: string): string {
  if (words === 'version diff') return shellWord(`./${pack}`);
  return words === 'version bump' ? 'auto' : '';
}

const FLOW_FAILURES: Readonly<Partial<Record<FlowErrorCode, FlowFailure>>> = {
  manifest_missing: {
    code: 'invalid_pack',
    hint: (pack, words) =>
      pack
        ? say`Name the folder of a pack: ${regen(words, findArguments(words, pack), pack)}`
        : say`Create one with: ${regen('node init')}`,
  },
  secrets_found: {
    hint: 'Remove each secret from its file, and revoke it if it was ever shared. List files that are not part of the pack in .regenignore. If nothing in them is secret, pass --allow-secrets.',
  },
  empty_pack: {
    hint: 'Check that __init__.py is packed and sets NODE_CLASS_MAPPINGS or comfy_entrypoint, or pass --allow-empty for a pack without nodes, such as one with only a web extension.',
  },
  invalid_python: {
    code: 'invalid_pack',
    hint: 'Fix it, or pass --allow-findings to publish anyway.',
  },
  findings: {
    hint: 'Fix it. If the findings are wrong, pass --allow-findings: the version is uploaded, and hidden until an admin of the registry approves it.',
  },
  breaking_changes: {
    hint: say`Set that number, or pass --allow-breaking: ${regen('version bump', 'auto')}`,
  },
  not_signed: { hint: 'Try again. If this persists, contact the operator of the service.' },
  statement_invalid: { hint: 'Do not use it, and contact the operator of the service.' },
  key_changed: {
    hint: (place) =>
      `If the operator of the service confirms the new key, remove the old ones from ${place}.`,
  },
  version_exists: {
    hint: say`Publish it with an unused version number: ${regen('version bump', 'auto')}`,
  },
  same_version_exists: {
    code: 'version_exists',
    hint: say`Pass ${{ flag: 'skip-existing' }} to treat this as success.`,
  },
  version_flagged: {
    hint: (version) =>
      say`If the verdict is wrong, ask an admin of the registry for a review, with what \`${regen('version get', `${version} --reasons`)}\` shows to members of its publisher. Otherwise fix it, and publish it with the next version number, because this one is used up: ${regen('version bump', 'patch')}`,
  },
  no_active_version: {
    code: 'not_found',
    hint: (node) => say`List its versions with: ${regen('version list', node)}`,
  },
  stage_unsupported: { code: 'usage', hint: say`Publish without ${{ flag: 'stage' }}.` },
  still_checking: {
    code: 'version_pending',
    hint: (version) => say`See the verdict later with: ${regen('version get', version)}`,
  },
  version_pending: { hint: 'Try again later.' },
  nothing_to_download: {
    code: 'not_found',
    hint: (node) =>
      say`Versions that wait for a verdict, or were flagged, banned or deleted, may be shown only to the publisher and to admins: ask the publisher. List the others with: ${regen('version list', node)}`,
  },
  version_withdrawn: {
    code: 'not_found',
    hint: (node) =>
      say`Lock another version with \`${regen('node install', `${node} --into <folder>`)}\`, or the highest one that keeps workflows whole: ${regen('workflow check', '<files> --upgrade --lock')}`,
  },
  only_doubtful: {
    code: 'not_found',
    hint: (states) => `Choose another version, or pass --allow ${states}.`,
  },
  digest_missing: { hint: 'Try again. If this persists, contact the operator of the registry.' },
  digest_mismatch: { hint: 'Try again. If this persists, contact the service operator.' },
  lock_mismatch: {
    hint: 'Find out why it changed. To accept it, remove the node from the lock file and install it again.',
  },
  version_refused: { hint: (state) => `Choose another version, or pass --allow ${state}.` },
  folder_refused: {
    hint: (folder) => `Pass --force to go on; the folder is then kept as .disabled/${folder}.`,
  },
  install_failed: {
    hint: (refused) =>
      refused &&
      'With --force, folders that were changed or did not come from a registry are replaced, and kept in .disabled.',
  },
  busy: { hint: 'Try again when it has ended.' },
  lock_invalid: { hint: 'Restore it from version control, or remove it and install again.' },
  other_registry: {
    hint: 'Use its registry with --profile or --base-url, or another lock file with --lock-file.',
  },
  file_exists: { hint: 'Choose another path, or pass --force to overwrite it.' },
  folder_exists: { code: 'usage', hint: 'Add a / to the end to save into the folder.' },
  unknown_placeholder: { code: 'usage', hint: (known) => `Use ${known}.` },
  same_output: {
    code: 'usage',
    hint: 'Use a folder, whose name ends with / (-o results/), or number them with {n} in the name.',
  },
  task_not_found: {
    code: 'not_found',
    hint: say`List the tasks that were started from here with: ${regen('task list')}`,
  },
  task_hidden: {
    code: 'not_found',
    hint: say`Run the command with the credential that started it, or an API key of the same name. To start a new task, which is paid for again, pass ${{ flag: 'again' }}.`,
  },
  ambiguous_task: { code: 'usage', hint: 'Type more of the id.' },
  unanswered: { hint: (id) => say`Repeat it with the same idempotency key: ${regen('task rerun', id)}` },
  still_running: { hint: (id) => say`Wait for it with: ${regen('task wait', shellWord(id))}` },
};

/** The code that the command line has for one of a flow or of the service. */
function nameCode(code: string): string {
  return (FLOW_FAILURES as Readonly<Record<string, FlowFailure>>)[code]?.code ?? code;
}

/** Adds to the error of a flow what the command line knows: its exit code, and what to do. */
export function toFlowFailure(
  { code, message, facts }: FlowError,
  parsed: ParsedCommand | undefined,
): Failure {
  const { subject = '', serviceCode, sharedCode, details } = facts;
  const { code: shown = code, hint: given } = FLOW_FAILURES[code] ?? {};
  const words = parsed?.command.words.join(' ') ?? 'version publish';
  const hint = typeof given === 'function' ? given(subject, words) : given;
  return new Failure(message, {
    code: serviceCode ?? shown,
    exit: findExit(sharedCode === undefined ? shown : nameCode(sharedCode)),
    ...(hint && { hint }),
    ...(details && { details }),
  });
}
