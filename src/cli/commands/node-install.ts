import { writeFileSync } from 'node:fs';
import { basename, join, relative, resolve } from 'node:path';
import lt from 'semver/functions/lt.js';
import major from 'semver/functions/major.js';
import valid from 'semver/functions/valid.js';
import { z } from 'zod';
import { regen, say } from '../../contract/schema/message.js';
import { parseWantedNode } from '../../flows/install/choose-version.js';
import { installPacks, removePacks } from '../../flows/install/install-packs.js';
import { changeLockFile, type LockFile, replaceNodes, requireSource } from '../../flows/install/lock-file.js';
import type { PackOutcome, PackToInstall } from '../../flows/install/plan-packs.js';
import { collectRequirements } from '../../flows/install/requirements.js';
import { saveFile } from '../../flows/save-file.js';
import { readText } from '../command/command.js';
import type { Flags } from '../command/flags.js';
import type { Needs } from '../connect/context.js';
import { findLockSource, type LockPlace, reachRegistry, readLockPlace } from '../connect/lock-source.js';
import { usage } from '../terminal/failure.js';
import type { Output } from '../terminal/output.js';
import { Progress } from '../terminal/progress.js';
import { capitalize, formatCount, shellWord } from '../terminal/text.js';
import { Row, Sha256, Text, Texts } from '../views/answers.js';
import { allowFlag, lockFileFlag, readAllowed } from '../views/flags.js';
import type { View } from '../views/view.js';

type Context = Needs<
  'command' | 'args' | 'flags' | 'system' | 'output' | 'signal' | 'services' | 'settings' | 'folders'
>;

const placeFlags: Flags = {
  '--into <folder>': 'The folder custom_nodes of the host application; required',
  ...lockFileFlag,
};

const changeFlags: Flags = {
  '--force': 'Replace git checkouts and changed packs, too; they are kept in .disabled',
  '--dry-run': 'Print what would change, and change nothing',
};

const installFlags: Flags = {
  ...placeFlags,
  ...allowFlag,
  '--requirements <path>': 'Write what the packs need from pip to a file',
  ...changeFlags,
};

const answer = z.object({
  packs: Row({
    node_id: Text,
    version: Text,
    previous: Text.nullable().describe('The version that was installed before, if it is known'),
    state: z.enum(['installed', 'updated', 'unchanged', 'removed']),
    folder: Text,
    kept: Text.nullable().describe('Where what was in its folder before is kept'),
    sha256: Sha256.nullable(),
    tree: Sha256.nullable(),
    verified: z.boolean().describe('Whether the archive has the digest of the registry or of the lock file'),
  }),
  requirements: Texts.describe('What the packs need from pip'),
});

const shape = {
  items: 'packs',
  columns: ['node_id', 'version', 'state', 'previous', 'folder', 'kept'],
  less: ['folder', 'kept', 'previous'],
  none: 'Nothing to install.',
};

const NEVER_RUN = 'Neither pip nor an install script nor the host is run.';

export const view = (): readonly View[] => [
  {
    usage: 'node install <nodes...>',
    summary: 'Install node packs into a host application, and record them in a lock file',
    explain: { nodes: 'node, node@1.2.0, or node@ and a range as npm writes it, such as node@^1.2' },
    flags: installFlags,
    shape,
    notes: [NEVER_RUN],
    examples: [
      'regen node install light-tools --into ComfyUI/custom_nodes',
      "regen node install light-tools@^1.2 'mask-tools@>=2 <4' --into custom_nodes --requirements pip.txt",
    ],
    answer,
  },
  {
    usage: 'node sync',
    summary: 'Make a folder of custom nodes what a lock file says',
    flags: {
      ...installFlags,
      '--locked': 'Fail if the lock file would have to change',
      '--prune': 'Remove packs of a registry that the lock file does not list',
      '--other-registry': 'Accept a lock file of another registry, such as a mirror; its digests must match',
    },
    shape,
    notes: [NEVER_RUN],
    examples: ['regen node sync --locked --into ComfyUI/custom_nodes'],
    answer,
  },
  {
    usage: 'node remove <nodes...>',
    summary:
      'Remove node packs from a host application; models and settings in their folders are moved to .disabled',
    explain: { nodes: 'Ids of nodes' },
    flags: { ...placeFlags, ...changeFlags },
    shape,
    examples: ['regen node remove light-tools --into ComfyUI/custom_nodes'],
    answer,
  },
];

export const run = { install, sync, remove };

async function install(context: Context): Promise<void> {
  const wanted = (context.args.nodes as readonly string[]).map(parseWantedNode);
  const place = readPlace(context);
  await installWith(context, place, wanted);
}

async function sync(context: Context): Promise<void> {
  const { flags } = context;
  const place = readPlace(context);
  const { lock } = place;
  if (!lock)
    throw usage(
      `There is no lock file ${place.path}.`,
      say`Write one with: ${regen('node install', '<node> --into <folder>')}`,
    );
  const wanted = lock.nodes.map((pinned) => ({ nodeId: pinned.id, range: pinned.version, pinned }));
  const open = wanted.find(({ pinned: { sha256, tree } }) => sha256 === undefined || tree === undefined);
  if (open && flags.locked)
    throw usage(
      `${basename(place.path)} would change: it has no digest of ${open.nodeId} yet.`,
      'Run the command without --locked, and commit the lock file.',
    );
  if (open && flags['other-registry'])
    throw usage(
      `${basename(place.path)} has no digest of ${open.nodeId}, so another registry cannot be trusted.`,
    );
  await installWith(context, place, wanted);
}

/** The folder to install into, and the lock file. */
interface Place extends LockPlace {
  readonly customNodes: string;
}

function readPlace(context: Pick<Context, 'flags' | 'system'>): Place {
  const { flags, system } = context;
  const into = readText(flags, 'into');
  if (into === undefined)
    throw usage(
      '--into is required.',
      'It is the folder custom_nodes of the host, such as --into ComfyUI/custom_nodes.',
    );
  return { customNodes: resolve(system.cwd, into), ...readLockPlace(context) };
}

async function installWith(
  context: Context,
  { customNodes, path, lock }: Place,
  wanted: readonly PackToInstall[],
): Promise<void> {
  const { flags, output, signal, folders, command } = context;
  const allowed = new Set(readAllowed(flags));
  const isOther = flags['other-registry'] === true;
  const service = await reachRegistry(context, { path, lock: isOther ? undefined : lock }, wanted[0]?.nodeId);
  const source = findLockSource(context);
  if (lock && !isOther) requireSource(basename(path), lock, source);
  const progress = new Progress(output);
  const dryRun = flags['dry-run'] === true;
  const outcomes = await installPacks(
    {
      ...{
        client: service.client,
        signer: service.signer,
        customNodes,
        lock,
        allowed,
        dryRun,
        progress,
        signal,
      },
      force: flags.force === true,
      warn: (text) => output.warn(text),
      saveLock: (nodes) =>
        changeLockFile(path, folders.state, (before = { ...source, nodes: [] }) =>
          replaceNodes(before, nodes),
        ),
    },
    wanted,
    flags.prune === true,
  ).finally(() => progress.end());
  const installed = dryRun ? [] : outcomes.filter(({ state }) => state !== 'removed');
  const requirements = await readRequirements(context, customNodes, installed);
  await output.answer({ packs: outcomes, requirements }, command.shape);
  const unverified = installed.filter(({ verified }) => !verified).length;
  if (unverified > 0)
    await output.note(
      `${service.name} publishes no digests, so ${formatCount(unverified, 'archive')} could not be verified. The lock file now pins what was installed.`,
    );
  await noteOutcomes(context, customNodes, outcomes);
  if (!lock && installed.length > 0)
    await output.note(`Wrote ${relative(context.system.cwd, path)}, which pins what was installed.`);
  if (requirements.length > 0) await noteRequirements(context, requirements);
}

async function remove(context: Context): Promise<void> {
  const { args, flags, output, folders, command, services } = context;
  const { customNodes, path, lock } = readPlace(context);
  // No registry is asked, but one that is named must be that of the lock file, as for the other commands.
  if (lock && services.isTargetGiven) requireSource(basename(path), lock, findLockSource(context));
  const outcomes = await removePacks(
    {
      ...{ customNodes, lock, force: flags.force === true, dryRun: flags['dry-run'] === true },
      saveLock: (nodes, removed) =>
        changeLockFile(path, folders.state, (before) =>
          replaceNodes(before ?? (lock as LockFile), nodes, removed),
        ),
    },
    args.nodes as readonly string[],
  );
  await output.answer({ packs: outcomes, requirements: [] }, command.shape);
  await noteOutcomes(context, customNodes, outcomes);
}

async function readRequirements(
  { output, flags, system }: Context,
  customNodes: string,
  outcomes: readonly PackOutcome[],
): Promise<string[]> {
  const paths = outcomes.map(({ folder }) => join(customNodes, folder));
  const requirements = await collectRequirements(paths, (path, problem) =>
    output.warn(`${basename(path)}: ${problem}.`),
  );
  const file = readText(flags, 'requirements');
  if (file !== undefined && flags['dry-run'] !== true)
    await saveFile(resolve(system.cwd, file), true, async (temporary) =>
      writeFileSync(temporary, requirements.map((one) => `${one}\n`).join('')),
    );
  return requirements;
}

/** Lists requirements for people; programs have them in the answer. */
async function noteRequirements({ output, flags }: Context, requirements: readonly string[]): Promise<void> {
  const file = readText(flags, 'requirements');
  const what = formatCount(requirements.length, 'pip requirement');
  if (file !== undefined)
    return output.note(`Wrote ${what} to ${file}. Next: pip install -r ${shellWord(file)}`);
  if (!output.mode.json)
    await output.note(
      `The packs have ${what}, which regen does not install:`,
      ...requirements.map((one) => `  ${one}`),
    );
}

/** Names the packs whose version number says that saved workflows may break, and the command that checks them. */
async function noteMajorSteps(output: Output, outcomes: readonly PackOutcome[]): Promise<void> {
  const isMajor = ({ state, version, previous }: PackOutcome) =>
    state === 'updated' && previous !== null && valid(previous) && major(previous) < major(version);
  const steps = outcomes.filter(isMajor);
  if (steps.length === 0) return;
  const named = steps.map(({ node_id, previous, version }) => `${node_id} ${previous} -> ${version}`);
  const use = steps.map(({ node_id, version }) => `--with ${node_id}@${version}`).join(' ');
  await output.note(
    `A new major version may break saved workflows: ${named.join(', ')}.`,
    say`Check them with: ${regen('workflow check', `<files> ${use}`)}`,
  );
}

const STATES = ['installed', 'updated', 'downgraded', 'unchanged', 'removed'];

const nameState = ({ state, version, previous }: PackOutcome) =>
  state === 'updated' && previous !== null && lt(version, previous) ? 'downgraded' : state;

async function noteOutcomes(
  { output, flags, system }: Pick<Context, 'output' | 'flags' | 'system'>,
  customNodes: string,
  outcomes: readonly PackOutcome[],
): Promise<void> {
  for (const { folder, state, kept } of outcomes) {
    const what =
      state === 'removed' ? `What was kept of ${folder} is` : `The old folder of ${folder} is kept`;
    if (kept) await output.note(`${what} in ${relative(system.cwd, kept) || kept}.`);
  }
  const counts = STATES.flatMap((state) => {
    const count = outcomes.filter((one) => nameState(one) === state).length;
    return count > 0 ? [`${state} ${formatCount(count, 'pack')}`] : [];
  });
  await noteMajorSteps(output, outcomes);
  const shown = relative(system.cwd, customNodes) || '.';
  if (flags['dry-run']) await output.note('Nothing was changed.');
  else if (counts.length > 0) await output.note(`${capitalize(counts.join(', '))} in ${shown}.`);
}
