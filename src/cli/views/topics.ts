import { errorCodes } from '../../contract/error-codes.js';
import type { CommandTree } from '../command/command.js';
import { toFlags } from '../command/flags.js';
import { formatFlag, listSubcommands, type Topic } from '../command/help.js';
import { failureCodes } from '../terminal/failure-codes.js';
import { globals } from './globals.js';

export const EXIT_CODES = [
  ['0', 'Done'],
  ['1', 'Unexpected failure (a bug: please report it)'],
  ['2', 'Wrong usage or invalid input: nothing was sent, or the service answered 400'],
  ['3', 'Not found'],
  ['4', 'Not signed in, not allowed, or a budget or quota is used up'],
  ['5', 'Conflict: it already exists'],
  [
    '6',
    'The job itself failed: a task failed, a version was flagged or banned, the service cannot do it, or a check found something',
  ],
  ['7', 'The service could not be reached, stayed busy, or did not answer'],
  ['8', 'Stopped waiting, or cannot wait; the work continues'],
  ['9', 'Only some of several items failed, or they failed for different reasons'],
  ['130, 143', 'Interrupted, terminated'],
] as const;

const ENVIRONMENT = [
  ['REGEN_BASE_URL', 'Address of the service'],
  ['REGEN_PROFILE', 'Profile to use'],
  ['REGEN_TOKEN', 'Token to send'],
  ['REGEN_PUBLISH_TOKEN', 'Personal access token for publishing'],
  ['REGEN_ID_TOKEN', 'Identity token of a CI job, to publish without a personal access token'],
  ['ACTIONS_ID_TOKEN_REQUEST_URL', 'Set by GitHub Actions, with …_TOKEN: where identity tokens come from'],
  ['REGEN_WEBHOOK_SECRET', 'Secret that webhooks are verified with'],
  ['REGEN_TIMEOUT', 'Idle timeout of requests, such as 90s'],
  ['REGEN_CREDENTIAL_STORE', 'Where tokens are kept: auto, keychain or file'],
  ['REGEN_CA_FILE', 'Certificates (PEM) to trust besides the built-in ones'],
  ['REGEN_LOCAL_PORT', 'Port of the embedded service'],
  ['REGEN_NO_AUTOSTART', 'Set to 1 to not start the embedded service'],
  ['REGEN_ADMIN_TOKEN, REGEN_ADMIN_TOKEN_FILE', 'An admin token; `regen admin exec` sets both'],
  [
    'REGEN_KEY_FILE, REGEN_KEY_NAME',
    'An API key in place of all other credentials, and its name; `regen exec` sets both',
  ],
  ['REGEN_SERVE_*', 'Settings of `regen serve`; see docs/configuration.md'],
  ['REGEN_PAGER, PAGER', 'Program that shows long output; empty for none'],
  ['NO_COLOR, FORCE_COLOR', 'Turn color off or on'],
  ['REGEN_ACCESSIBLE', 'Set to 1 for screen readers: no spinner, no tables, plain prompts'],
  ['CI', 'Never prompt, and show no spinner'],
  ['HTTPS_PROXY, HTTP_PROXY, NO_PROXY', 'Proxies'],
  ['XDG_CONFIG_HOME, XDG_DATA_HOME, XDG_STATE_HOME', 'Folders of settings, data and state'],
] as const;

const TOKENS =
  'Tokens are sent only to a service that is named: with --base-url, a profile or REGEN_BASE_URL; --profile local names the embedded service. Where none is named, a command that changes something refuses to run with a token, and any other command warns that it does not use it.';

const EMPTY_VARIABLES =
  'An empty variable counts as unset, except REGEN_PAGER, PAGER and REGEN_SERVE_*. Where no service is named, a command that changes something refuses an empty REGEN_BASE_URL, REGEN_TOKEN or REGEN_PUBLISH_TOKEN: in a CI job, a secret is probably missing.';

/** Adds what only the whole tree knows: its first words. */
export function completeTopics(tree: CommandTree): Readonly<Record<string, Topic>> {
  const items = listSubcommands(tree, '').map(({ name, summary }) => [name, summary] as const);
  return { ...topics, commands: { ...(topics.commands as Topic), blocks: [{ items }] } };
}

/** The pages of `regen help <topic>`; the list of commands is added by `completeTopics`. */
export const topics: Readonly<Record<string, Topic>> = {
  commands: {
    summary: 'All commands and groups of commands',
    blocks: [],
  },
  options: {
    summary: 'Options that most commands accept',
    blocks: [
      {
        items: toFlags(globals).map((flag) => [formatFlag(flag), flag.description]),
      },
      {
        text: 'Options that name a service belong to commands that use one, and --columns and --ndjson to lists.',
      },
    ],
  },
  output: {
    summary: 'What is printed where, and in which form',
    blocks: [
      {
        text: 'stdout carries only the result. Progress, prompts, warnings and errors are on stderr. On a terminal, a result is a table or a card that fits its width; in a pipe it has the same facts, separated by tabs, without headings and uncut.',
      },
      {
        items: [
          [
            '--json',
            'The whole response as one JSON document. An error is one JSON object on stderr, which has nothing else unless it is a terminal',
          ],
          ['--ndjson', 'The items of a list, one JSON document per line'],
          ['--jq <expression>', 'The JSON, filtered with jq: regen node list my-team --jq ".nodes[].id"'],
          ['--columns <names>', 'Other columns of a list: regen node list my-team --columns id,downloads'],
          ['--quiet', 'Only errors on stderr'],
        ],
      },
      {
        text: 'regen schema <command> prints the JSON Schema of its response, and with --input that of its request. regen --help --json prints all commands.',
      },
      {
        text: 'Ids are shortened on a terminal. Commands for tasks accept the beginning of an id, @last, @last:video, @last:relight, or the path of a file that the task saved.',
      },
    ],
  },
  publishing: {
    summary: 'From a folder to a published version',
    blocks: [
      {
        text: 'A node pack is a folder of Python custom nodes for ComfyUI. Its pyproject.toml names the node, the version and the publisher.',
      },
      {
        items: [
          ['regen node scaffold', 'Create a new pack with one working node'],
          ['regen node init', 'Write the pyproject.toml of a folder that has code'],
          ['regen version check', 'Run every check of the registry, and send nothing'],
          ['regen version publish', "Check, pack, register, upload, and wait for the registry's verdict"],
          ['regen version bump minor', 'Raise the version number for the next release'],
          ['regen version diff <node>', 'Show what breaks saved workflows'],
        ],
      },
      {
        text: 'Publishing needs a personal access token: regen publisher token create <publisher>. It comes from REGEN_PUBLISH_TOKEN or from an earlier publish; otherwise regen asks for it. CI jobs need none if the publisher trusts them: regen publisher trust add <publisher>. On the embedded service, the first publish creates the publisher and the token.',
      },
      {
        text: 'A version number can be used once. An interrupted publish continues when the same command is run again; --skip-existing succeeds if exactly this version is already published.',
      },
    ],
  },
  installing: {
    summary: 'From a registry into a host application',
    blocks: [
      {
        text: 'A node pack is a folder in the custom_nodes of a node-graph host application. All packs of a command are downloaded, verified and unpacked before the first one is moved into place; models and settings in their folders are kept.',
      },
      {
        items: [
          ['regen node install <node>@^1.2 --into <folder>', 'Install, and record the version in regen.lock'],
          ['regen node sync --locked --into <folder>', 'Make another machine what regen.lock says'],
          ['regen node audit <folder>', 'Find changed files, and versions that were banned since'],
          ['regen node outdated <folder>', 'Find later versions'],
          ['regen node remove <node> --into <folder>', 'Remove the files of a pack'],
        ],
      },
      {
        text: 'What the packs need from pip is printed, or written with --requirements <path>. Neither pip nor an install script nor the host is run.',
      },
    ],
  },
  configuration: {
    summary: 'Profiles and settings',
    blocks: [
      {
        text: 'A profile is a name for a service. The profile local is the embedded service, which starts by itself.',
      },
      {
        items: [
          ['regen auth login --profile team --base-url <url>', 'Add the profile team, and sign in'],
          ['regen config set profiles.team.base_url <url>', 'Add it without signing in'],
          ['regen config set profile team', 'Use it by default'],
          ['regen config list', 'Show every setting and where its value comes from'],
        ],
      },
      {
        text: 'For one command: --base-url, then REGEN_BASE_URL, then --profile or REGEN_PROFILE, then the project of a folder that is read, then the setting profile. Two profiles may point at the same service; each has its own sign-in.',
      },
      {
        heading: 'Defaults of a project are in the pyproject.toml of its folder:',
        items: [
          ['[tool.regen]', 'Keys are profile, and the flags of version publish, check and pack'],
          ['profile = "team"', 'For the commands that read this folder, without tokens of the environment'],
          ['skip-existing = true', 'For the commands that have the flag'],
        ],
      },
    ],
  },
  environment: {
    summary: 'Environment variables',
    blocks: [{ items: ENVIRONMENT }, { text: TOKENS }, { text: EMPTY_VARIABLES }],
  },
  'exit-codes': { summary: 'What the exit code of a command means', blocks: [{ items: EXIT_CODES }] },
  errors: {
    summary: 'Error codes in JSON, their exit codes and meanings',
    blocks: [
      {
        heading: 'Of a service:',
        items: listServiceErrors().map(([code, , exit, meaning]) => [code, `${meaning} Exit ${exit}.`]),
      },
      {
        heading: 'Of the command line:',
        items: listFailures().map(([code, exits, meaning]) => [code, `${meaning} Exit ${exits}.`]),
      },
    ],
  },
};

/** Every error code of the service: code, HTTP status, exit code, meaning. */
export function listServiceErrors() {
  return Object.entries(errorCodes).map(
    ([code, { status, exit, meaning }]) => [code, status, exit, meaning] as const,
  );
}

/** Every error code of the command line: code, exit codes, meaning. */
export function listFailures(): (readonly [code: string, exits: string, meaning: string])[] {
  return Object.entries(failureCodes).map(([code, [meaning, ...exits]]) => [
    code,
    exits.join(' or '),
    meaning,
  ]);
}
