import { DOUBTFUL_STATES } from '../../flows/install/download-archive.js';
import { type FlagValues, LOCK_FILE_FLAG } from '../command/command.js';
import type { Flags } from '../command/flags.js';
import { usage } from '../terminal/failure.js';

/** How long a command waits for a task, and how often it polls. */
export const waitFlags: Flags = {
  '--timeout <duration>':
    'Maximum time to wait, such as 90s or 2h (default 30m, off-peak 48h); the task then continues without it',
  '--interval <duration>': 'Maximum polling interval (default 10s)',
};

const describeOutput = (placeholders: string) =>
  `Save the results to a file, a folder/, or a pattern with ${placeholders}, {task_id}, {index} (number of the result, if a task has several) and {ext}, and print the paths`;

const savingFlags: Flags = {
  '--force': 'Overwrite existing files',
  '--receipt': 'Write <file>.receipt.json next to each saved file: request, seed, task id, credits, SHA-256',
};

/** Where a command saves the results of a task. */
export const saveFlags: Flags = {
  '-o, --output <path>': `${describeOutput('{name}, {n} (number of the task)')}; - writes one result to stdout`,
  ...savingFlags,
};

export const batchSaveFlags: Flags = {
  '-o, --output <path>': describeOutput('{name}, {line}, {id}'),
  ...savingFlags,
};

export const openFlag: Flags = { '--open': 'Open the results in the default program' };

export const noWait: Flags = { '--no-wait': 'Print the task id and exit; resume with `regen task wait`' };

const again: Flags = {
  '--again': 'Start a new task, even if an interrupted run of the same command left one unfinished',
};

export const yesFlag: Flags = {
  '-y, --yes': 'Do not ask for confirmation if the price is above the setting confirm_credits',
};

export const priceFlags: Flags = {
  '--max-credits <number>': 'Do not start anything if the total price is more than this number of credits',
  ...yesFlag,
};

export const startFlags: Flags = {
  ...saveFlags,
  ...openFlag,
  ...noWait,
  ...again,
  ...waitFlags,
  ...priceFlags,
};

export const taskExplain = {
  task_id: 'Task id or the beginning of it, @last, @last:video, or a file that the task saved',
};

export const publisherFlag: Flags = {
  '--publisher <publisherId>': "Publisher, instead of the manifest's PublisherId",
};
export const allowSecretsFlag: Flags = { '--allow-secrets': 'Include files that look like secrets' };

/** Where a new secret goes. */
export const secretFileFlags: Flags = {
  '--output-file <path>': 'Write the secret to a file that only you can read, and print the path of the file',
  '--force': 'Overwrite an existing file',
};
export const allowEmptyFlag: Flags = {
  '--allow-empty': 'Accept a pack without node definitions, such as one with only a web extension',
};
export const allowBreakingFlag: Flags = {
  '--allow-breaking':
    'Accept a patch or minor release that breaks workflows that were saved with the latest version',
};

export const allowFlag: Flags = {
  '--allow <state>': {
    description: `Also accept versions in this state (one of ${DOUBTFUL_STATES.join(', ')}); flagged and banned ones are shown to their publisher and to admins only`,
    choices: [...DOUBTFUL_STATES],
    repeat: true,
  },
};

/** Reads `--allow`. */
export function readAllowed({ allow = [] }: FlagValues): readonly string[] {
  const states = [allow].flat() as string[];
  const wrong = states.find((state) => !(DOUBTFUL_STATES as readonly string[]).includes(state));
  if (wrong === undefined) return states;
  throw usage(`--allow must be one of ${DOUBTFUL_STATES.join(', ')}, not '${wrong}'.`);
}

export const dirExplain = { dir: 'Folder with the pyproject.toml (default: the current folder)' };
export const secretFileFlag: Flags = {
  '--secret-file <path>':
    'File with the signing secret (default: REGEN_WEBHOOK_SECRET, or the secret read from the service)',
};

export const dataFlag: Flags = {
  '--data <folder>': 'Folder for the database, archives and keys (default: $XDG_DATA_HOME/regen)',
};

export const configFlag: Flags = {
  '--config <path>': 'Service configuration file: TOML if its name ends in .toml, otherwise JSON',
};

export const OBJECT_INFO =
  "The host's node definitions: the address of a running ComfyUI, or a file with its response to /object_info";

export const lockFileFlag: Flags = {
  [`--${LOCK_FILE_FLAG} <path>`]:
    'Lock file, whose registry is used unless another one is named (default regen.lock in the current folder)',
};
