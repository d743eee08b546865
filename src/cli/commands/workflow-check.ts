import { relative } from 'node:path';
import lt from 'semver/functions/lt.js';
import { z } from 'zod';
import { regen, say } from '../../contract/schema/message.js';
import { isSemanticVersion } from '../../contract/schema/semantic-version.js';
import { warnOfDoubtful } from '../../flows/install/doubtful-versions.js';
import { findLocked } from '../../flows/install/lock-file.js';
import {
  checkWorkflows,
  chooseHighest,
  type Knowledge,
  listWanted,
  type NeededPack,
  type Replacements,
  type WorkflowCheck,
  type WorkflowFinding,
} from '../../flows/workflow/check-workflows.js';
import { findRegressions, findUpgrades, type Upgrade } from '../../flows/workflow/find-upgrades.js';
import { listHostNodes, toHostNodes } from '../../flows/workflow/host-definitions.js';
import type { Workflow } from '../../flows/workflow/parse-workflow.js';
import { DefinitionCatalog, type PackVersion } from '../../flows/workflow/read-definitions.js';
import { readText } from '../command/command.js';
import { toInvalidFailure } from '../command/request.js';
import type { Needs } from '../connect/context.js';
import { type LockPlace, reachRegistry, readLockPlace } from '../connect/lock-source.js';
import { exitCodes } from '../terminal/failure.js';
import { formatCount } from '../terminal/text.js';
import { Count, Row, Text, Texts } from '../views/answers.js';
import { lockFileFlag, OBJECT_INFO } from '../views/flags.js';
import type { View } from '../views/view.js';
import { readObjectInfo, readWorkflows } from '../workflow/read-files.js';
import { parsePair } from './bulk.js';

type Context = Needs<
  | 'args'
  | 'command'
  | 'connect'
  | 'flags'
  | 'folders'
  | 'output'
  | 'services'
  | 'settings'
  | 'signal'
  | 'system'
>;

const Pack = z.object({ node_id: Text, version: Text });
const Findings = Row({
  file: Text,
  node: Text.describe('Id of the node in the file; empty for what is about a pack'),
  host_node_name: Text,
  pack: Pack.optional(),
  problem: Text,
  detail: Text,
  breaks: z.boolean().describe('Whether the workflow does not load or run because of it'),
});

export const view = (): View => ({
  usage: 'workflow check <files...>',
  summary: 'Check workflows against the node definitions of the packs that they need; exits 6 with findings',
  explain: {
    files:
      "Workflows of the graph editor or its API: files, patterns such as 'flows/**/*.json', or - for standard input",
  },
  flags: {
    '--with <node@version>': {
      description: 'Check as if this version of a pack were installed',
      repeat: true,
    },
    '--upgrade': 'Find the highest version of each pack that keeps all the workflows whole',
    '--lock':
      'Write the versions that the workflows need into the lock file, if they break no more than those in it; with --upgrade, those that it finds',
    ...lockFileFlag,
    '--object-info <file|url>': `${OBJECT_INFO} (default: a table of the names of its own nodes)`,
  },
  shape: { columns: ['kind', 'what', 'where', 'detail'] },
  notes: ['The files are only read, and only the names of their nodes and packs are sent.'],
  examples: [
    'regen workflow check portrait.json',
    "regen workflow check 'flows/**/*.json' --upgrade",
    "regen workflow check 'flows/*.json' --upgrade --lock",
    'regen workflow check portrait.json --with light-tools@2.0.0 --object-info http://127.0.0.1:8188',
  ],
  answer: z.object({
    workflows: Row({ file: Text, nodes: Count }),
    packs: Row({ ...Pack.shape, host_node_names: Texts, files: Texts, recorded: z.boolean() }),
    findings: Findings,
    upgrades: Row({ node_id: Text, from: Text, to: Text, newest: Text, breaks: Findings }).optional(),
  }),
});

export async function run(context: Context): Promise<number> {
  const { args, flags, output, command, signal } = context;
  const use = readReplacements((flags.with as readonly string[] | undefined) ?? []);
  const workflows = await readWorkflows(context, args.files as readonly string[]);
  const given = readText(flags, 'object-info');
  const host =
    given === undefined ? listHostNodes() : toHostNodes(await readObjectInfo(context, given), given);
  const place = readLockPlace(context);
  const { client, name, local } = await reachRegistry(context, place);
  const catalog = new DefinitionCatalog(client, signal);
  const { names, packs, locked: pinned } = listWanted(workflows, host, place.lock?.nodes ?? []);
  await catalog.read(
    names,
    [...packs, ...[...use].map(([node_id, version]) => ({ node_id, version }))],
    pinned,
  );
  const offered = pinned.filter((pack) => catalog.getVersion(pack));
  const locked = new Map(offered.map((pack) => [pack.node_id.toLowerCase(), pack]));
  const knowledge = { catalog, host, locked };
  const asSaved = checkWorkflows(workflows, knowledge, use);
  const listVersions = (nodeId: string) => client.version.list({ nodeId }, { signal });
  const upgrades = flags.upgrade
    ? await findUpgrades(workflows, knowledge, asSaved.packs, listVersions, use)
    : undefined;
  // The exit code is for what is locked.
  const lower = (flags.lock && upgrades?.filter(({ from, to }) => lt(to, from))) || [];
  const checked =
    lower.length === 0
      ? asSaved
      : checkWorkflows(
          workflows,
          knowledge,
          new Map([...use, ...lower.map(({ node_id, to }) => [node_id.toLowerCase(), to] as const)]),
        );
  const counted = workflows.map(({ file, nodes }) => ({ file, nodes: nodes.length }));
  const answer = { workflows: counted, ...checked, ...(upgrades && { upgrades }) };
  if (output.mode.json) await output.answer(answer);
  else
    await output.answer(toRows(workflows, answer, locked), {
      ...command.shape,
      none: 'No packs are needed.',
    });
  if (flags.lock) {
    const chosen =
      upgrades?.map(({ node_id, to: version }) => ({ node_id, version })) ?? chooseHighest(checked.packs);
    await writeLock(context, place, chosen, findRegressions(workflows, knowledge, chosen));
    for (const { node_id, version } of listTroubled(chosen, checked.findings))
      await output.warn(
        `${node_id} ${version} has problems with these workflows. ${flags.upgrade ? 'To try another version, pass' : 'To look for a version without them, pass --upgrade; to try one,'} --with ${node_id}@<version>.`,
      );
  } else await noteLocked(context, place, checked.packs, use);
  await warnOfDoubtful({ client, signal, allowed: new Set(), warn: (text) => output.warn(text) }, [
    ...checked.packs,
    ...listLost(pinned, knowledge, checked),
  ]);
  const breaking = checked.findings.filter(({ breaks }) => breaks).length;
  const total = counted.reduce((sum, { nodes }) => sum + nodes, 0);
  const asked = local || context.services.target.lock ? '' : `, checked with ${name}`;
  await output.note(
    `${formatCount(total, 'node')} in ${formatCount(workflows.length, 'workflow')}, ${formatCount(breaking, 'problem')}${asked}.`,
  );
  const isMissing = ({ problem }: WorkflowFinding) =>
    problem === 'version missing' || problem === 'node missing';
  const other = checked.findings.some(isMissing) && context.services.absenceHint;
  if (other) await output.note(other);
  return breaking > 0 ? exitCodes.endedBadly : exitCodes.done;
}

/** Lists the locked packs that the registry does not offer, and of which the workflows may be. */
function listLost(
  pinned: readonly PackVersion[],
  { locked }: Knowledge,
  { packs, findings }: WorkflowCheck,
): PackVersion[] {
  const isOpen = findings.some(({ problem, pack }) => problem === 'node missing' && !pack);
  const needed = new Set(packs.map(({ node_id }) => node_id.toLowerCase()));
  return pinned.filter(({ node_id }) => {
    const key = node_id.toLowerCase();
    return !locked.has(key) && (isOpen || needed.has(key));
  });
}

function listTroubled(packs: readonly PackVersion[], findings: readonly WorkflowFinding[]): PackVersion[] {
  return packs.filter(({ node_id, version }) =>
    findings.some(({ breaks, pack }) => breaks && pack?.node_id === node_id && pack.version === version),
  );
}

/** Pins versions of packs, except those that break what the locked ones keep whole. */
async function writeLock(
  context: Context,
  { path }: LockPlace,
  packs: readonly PackVersion[],
  regressions: readonly PackVersion[],
): Promise<void> {
  const { system, output } = context;
  const { lockPacks } = await import('../workflow/lock-packs.js');
  const chosen = packs.filter((pack) => !regressions.includes(pack));
  const { missing, isComplete } = await lockPacks(context, path, chosen);
  for (const { node_id, version } of regressions)
    await output.warn(
      `${node_id} ${version} is not locked, because it has problems that the version in ${relative(system.cwd, path)} does not have.`,
    );
  for (const { node_id, version } of missing)
    await output.warn(`${node_id} ${version} is not locked, because the registry does not have it.`);
  await output.note(
    `Locked ${formatCount(chosen.length - missing.length, 'pack')} in ${relative(system.cwd, path)}.`,
  );
  if (!isComplete)
    await output.note(
      say`Before you share it, install from it, which completes it: ${regen('node sync', '--into <folder>')}`,
    );
}

/** Names the packs that are locked in another version than the one that the workflows were saved with. */
async function noteLocked(
  { system, output }: Context,
  { path, lock }: LockPlace,
  packs: readonly NeededPack[],
  use: Replacements,
): Promise<void> {
  for (const { node_id, version, recorded } of chooseHighest(packs)) {
    const locked = findLocked(lock, node_id);
    if (!locked || !recorded || locked.version === version || use.has(node_id.toLowerCase())) continue;
    await output.note(
      `${node_id} is checked as saved, ${version}; ${relative(system.cwd, path)} has ${locked.version}: --with ${locked.id}@${locked.version}`,
    );
  }
}

/** @throws Failure if one is not a version of a pack */
function readReplacements(given: readonly string[]): Replacements {
  const pairs = given.map((text) => ({ text, pair: parsePair(text) }));
  const wrong = pairs.filter(({ pair }) => !pair || !isSemanticVersion(pair.version));
  if (wrong.length > 0)
    throw toInvalidFailure(
      wrong.map(({ text }) => ({ path: '--with', message: `must be written as node@1.2.3, not '${text}'` })),
    );
  return new Map(pairs.map(({ pair }) => [pair?.node_id.toLowerCase() as string, pair?.version as string]));
}

function toRows(
  workflows: readonly Workflow[],
  { packs, findings, upgrades = [] }: WorkflowCheck & { readonly upgrades?: readonly Upgrade[] },
  locked: Knowledge['locked'],
) {
  const isMany = workflows.length > 1;
  const toRow = (kind: string, { file, node, host_node_name, problem, detail }: WorkflowFinding) => ({
    kind,
    what: host_node_name || problem,
    where: [isMany ? file : '', node].filter(Boolean).join(':'),
    detail: host_node_name ? `${problem}: ${detail}` : detail,
  });
  return [
    ...packs.map(({ node_id, version, host_node_names, files, recorded }) => ({
      kind: 'pack',
      what: `${node_id} ${version}`,
      where: isMany ? (files.length === 1 ? files[0] : formatCount(files.length, 'workflow')) : '',
      detail: `${formatCount(host_node_names.length, 'node')}${recorded ? '' : `, found by name${locked.get(node_id.toLowerCase())?.version === version ? ', version of the lock file' : ''}`}`,
    })),
    ...findings.map((one) => toRow(one.breaks ? 'problem' : 'note', one)),
    ...upgrades.flatMap(({ node_id, from, to, newest, breaks }) => [
      {
        kind: 'upgrade',
        what: node_id,
        where: from === to ? from : `${from} -> ${to}`,
        detail: to === newest ? 'the newest' : `${newest} is the newest; what breaks above ${to}:`,
      },
      ...breaks.map((one) => toRow('breaks', one)),
    ]),
  ];
}
