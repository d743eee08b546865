import { resolve } from 'node:path';
import { z } from 'zod';
import { auditPacks, listOutdated } from '../../flows/install/audit-packs.js';
import type { Needs } from '../connect/context.js';
import { reachRegistry, readLockPlace } from '../connect/lock-source.js';
import { exitCodes, usage } from '../terminal/failure.js';
import { Progress } from '../terminal/progress.js';
import { withScratch } from '../terminal/scratch.js';
import { formatCount } from '../terminal/text.js';
import { Row, Text } from '../views/answers.js';
import { lockFileFlag } from '../views/flags.js';
import type { View } from '../views/view.js';

type Context = Needs<'command' | 'args' | 'flags' | 'system' | 'output' | 'signal' | 'services' | 'settings'>;

// The commands that change a folder take it with a flag, so here it may be one as well.
const flags = { '--into <folder>': 'The same as <folder>', ...lockFileFlag };

const explain = { folder: 'The folder custom_nodes of the host application' };

export const view = (): readonly View[] => [
  {
    usage: 'node outdated [folder]',
    summary: 'List the installed node packs of which the registry has a later version',
    explain,
    flags: { ...flags, '--all': 'List the other installed packs as well' },
    shape: {
      columns: ['node_id', 'version', 'latest', 'folder'],
      less: ['folder'],
      none: 'Every pack is up to date.',
    },
    examples: ['regen node outdated ComfyUI/custom_nodes', 'regen node outdated custom_nodes --all'],
    answer: Row({
      folder: Text,
      node_id: Text.nullable(),
      version: Text.nullable(),
      latest: Text.nullable().describe('Null with --all for a pack without a later version'),
    }),
  },
  {
    usage: 'node audit [folder]',
    summary: 'Compare the installed node packs with the registry; exits 6 with findings',
    explain,
    flags,
    shape: {
      columns: ['node_id', 'version', 'finding', 'file', 'newer', 'detail', 'folder'],
      less: ['folder', 'newer'],
      none: 'No findings.',
    },
    notes: [
      'Files that the pack ignores, models and __pycache__ are not findings. Strangers to a publisher see its versions that are flagged, banned or deleted as withdrawn.',
    ],
    examples: ['regen node audit ComfyUI/custom_nodes', 'regen node audit custom_nodes --json'],
    answer: Row({
      folder: Text,
      node_id: Text.nullable(),
      version: Text.nullable(),
      finding: z.enum([
        ...(['changed', 'missing', 'added', 'deprecated', 'flagged', 'banned', 'withdrawn'] as const),
        'unknown',
      ]),
      file: Text.nullable().describe('The file that it is about; null for the whole pack'),
      detail: Text,
      newer: Text.nullable().describe('A later version that is Active and not deprecated'),
    }),
  },
];

export const run = { outdated, audit };

async function audit(context: Context): Promise<number> {
  const { output, command, system, signal } = context;
  const customNodes = readFolder(context);
  const { client, signer, name } = await reachRegistry(context, readLockPlace(context));
  const progress = new Progress(output);
  await progress.stage('Comparing packs with the registry');
  const onProgress = (done: number, total: number) => progress.update(`(${done} of ${total})`);
  const { packs, findings } = await withScratch(system.now(), (scratch) =>
    auditPacks({ client, signer, scratch, signal, onProgress }, customNodes),
  ).finally(() => progress.end());
  await output.answer(findings, command.shape);
  const wrong = new Set(findings.map(({ folder }) => folder)).size;
  const found =
    findings.length > 0
      ? `: ${formatCount(findings.length, 'finding')} in ${formatCount(wrong, 'pack')}`
      : '';
  await output.note(`Compared ${formatCount(packs, 'pack')} with ${name}${found}.`);
  const isUnknown = findings.some(({ finding }) => finding === 'unknown');
  const other = isUnknown && context.services.absenceHint;
  if (other) await output.note(other);
  return findings.length > 0 ? exitCodes.endedBadly : exitCodes.done;
}

function readFolder({ args, flags, system }: Context): string {
  const folder = args.folder ?? flags.into;
  if (folder === undefined) throw usage("Pass the host's folder custom_nodes, such as ComfyUI/custom_nodes.");
  return resolve(system.cwd, folder as string);
}

async function outdated(context: Context): Promise<void> {
  const { output, command, flags, signal } = context;
  const customNodes = readFolder(context);
  const { client, local } = await reachRegistry(context, readLockPlace(context));
  const { outdated: rows, unknown } = await listOutdated({ client, signal }, customNodes, flags.all === true);
  await output.answer(rows, command.shape);
  if (unknown.length === 0) return;
  await output.note(`Not in the registry${local ? ' of this machine' : ''}: ${unknown.join(', ')}.`);
  const other = context.services.absenceHint;
  if (other) await output.note(other);
}
