import { join } from 'node:path';
import { z } from 'zod';
import { HostNode } from '../../contract/host-nodes.js';
import { buildArchive, type Pack, warnAboutMissingDefinitions } from '../../flows/publish/pack.js';
import { scanAsComfy } from '../../pack/other-scanner.js';
import type { CodeReport } from '../../python/code-report.js';
import { toListedDefinition } from '../../python/definitions/definitions.js';
import { readCodeApart } from '../../python/reader-process.js';
import { formatBytes } from '../../wire/format-bytes.js';
import { readText } from '../command/command.js';
import type { Needs } from '../connect/context.js';
import { readFolder } from '../publish/publish-folder.js';
import { exitCodes, usage } from '../terminal/failure.js';
import { Progress } from '../terminal/progress.js';
import { withScratch } from '../terminal/scratch.js';
import { formatCount } from '../terminal/text.js';
import { Count, File, Row, Text } from '../views/answers.js';
import { allowSecretsFlag, dirExplain, publisherFlag } from '../views/flags.js';
import type { View } from '../views/view.js';

type Context = Needs<'command' | 'args' | 'flags' | 'system' | 'output' | 'signal' | 'services'>;

export const view = (): View => ({
  usage: 'version check [dir]',
  local: true,
  summary: 'Preview what the registry will list and flag, without uploading; exits 6 if it would be flagged',
  explain: dirExplain,
  flags: {
    ...publisherFlag,
    ...allowSecretsFlag,
    '--for <choice>': {
      description: 'Also find what the scanner of another registry is known to flag (one of comfy)',
      choices: ['comfy'],
    },
  },
  shape: { columns: ['kind', 'what', 'where', 'detail'] },
  examples: ['regen version check', 'regen version check packs/light --json'],
  answer: z.object({
    files: z.array(File),
    definitions: z.array(HostNode),
    unknown: Row({
      host_node_name: Text.optional(),
      file: Text,
      line: Count,
      what: Text,
    }),
    findings: Row({
      file: Text,
      line: Count,
      rule: Text,
      severity: z.enum(['high', 'low']),
      message: Text,
    }),
    verdict: z.enum(['NodeVersionStatusActive', 'NodeVersionStatusFlagged']),
  }),
});

export async function run(context: Context): Promise<number> {
  const { output, command, system } = context;
  using progress = new Progress(output);
  const registry = readText(context.flags, 'for') ?? 'comfy';
  if (registry !== 'comfy') throw usage(`--for must be comfy, not '${registry}'.`);
  const pack = await readFolder(context, context.args.dir as string | undefined);
  await progress.stage(`Checking ${pack.manifest.node.id} ${pack.manifest.version.version}`);
  const [report] = await withScratch(system.now(), (scratch) =>
    Promise.all([
      readCodeApart(pack.files),
      buildArchive(context, pack, join(scratch, 'node.zip'), progress),
    ]),
  );
  progress.end();
  const other = context.flags.for === undefined ? undefined : await scanForComfy(pack);
  const answer = { ...toAnswer(pack, report), ...(other && { for: other }) };
  await warnAboutMissingDefinitions(output, report);
  if (output.mode.json) await output.answer(answer);
  else await output.answer([...toRows(report, answer.verdict), ...toOtherRows(other)], command.shape);
  await output.note(
    `${formatCount(pack.files.length, 'file')}, ${formatBytes(pack.size)}; nothing was sent.`,
  );
  const isFlagged = answer.verdict === FLAGGED || other?.verdict === FLAGGED;
  return isFlagged ? exitCodes.endedBadly : exitCodes.done;
}

const ACTIVE = 'NodeVersionStatusActive';
const FLAGGED = 'NodeVersionStatusFlagged';

/** What the scanner of the other registry would find in the pack. */
async function scanForComfy({ files }: Pack) {
  const findings = await scanAsComfy(files);
  return { registry: 'comfy', findings, verdict: findings.length > 0 ? FLAGGED : ACTIVE };
}

function toOtherRows(other: Awaited<ReturnType<typeof scanForComfy>> | undefined): CheckRow[] {
  if (!other) return [];
  const { registry: kind, findings, verdict } = other;
  return [
    ...findings.map(({ rule, file, line, match, instead, source, date }) => {
      return toRow(kind, rule, { file, line }, `${match} ${instead}. (${source}, ${date})`);
    }),
    toRow(kind, verdict),
  ];
}

function toAnswer({ files }: Pack, { nodes, unresolved, unreadable, findings }: CodeReport) {
  return {
    files: files.map(({ path, size }) => ({ path, size })),
    definitions: nodes.map(toListedDefinition),
    unknown: [
      ...nodes.flatMap(({ name, file, line, unknown }) =>
        unknown.map((what) => ({ host_node_name: name, file, line, what })),
      ),
      ...unresolved,
      ...unreadable.map(({ file, line, message }) => ({ file, line, what: message })),
    ],
    findings,
    verdict: findings.some(({ severity }) => severity === 'high') ? FLAGGED : ACTIVE,
  };
}

interface CodeLocation {
  readonly file: string;
  readonly line: number;
}

type CheckRow = ReturnType<typeof toRow>;

function toRow(kind: string, what: string, at?: CodeLocation, detail = '') {
  return { kind, what, where: at ? `${at.file}:${at.line}` : '', detail };
}

/** The answer as a table: what the registry will list, what it cannot determine, and what it will flag. */
function toRows({ nodes, unresolved, unreadable, findings }: CodeReport, verdict: string): CheckRow[] {
  const computed = nodes.filter(({ unknown }) => unknown.length > 0);
  return [
    ...nodes.map((node) => {
      const { category, function: called, return_types } = node.definition;
      return toRow('definition', node.name, node, [category, called, return_types].filter(Boolean).join(' '));
    }),
    ...computed.map((node) =>
      toRow('unknown', node.name, node, `computed at run time: ${node.unknown.join(', ')}`),
    ),
    ...unresolved.map((gap) => toRow('unknown', '', gap, gap.what)),
    ...unreadable.map((file) => toRow('unknown', '', file, file.message)),
    ...findings.map((finding) => toRow(finding.severity, finding.rule, finding, finding.message)),
    toRow('verdict', verdict, undefined, describeVerdict(findings)),
  ];
}

/** Which findings flag a version and which do not, and what to do where that is wrong. */
function describeVerdict(findings: CodeReport['findings']): string {
  const high = findings.filter(({ severity }) => severity === 'high').length;
  const low = findings.length - high;
  const noted = low > 0 ? `low findings are only noted: ${low}` : '';
  if (high === 0) return noted;
  const advice =
    'if that is wrong, publish with --allow-findings, and ask an admin of the registry for a review';
  return [`flagged by high findings: ${high}`, noted, advice].filter(Boolean).join('; ');
}
