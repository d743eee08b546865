import { join } from 'node:path';
import { z } from 'zod';
import { ClientError, ServiceError } from '../../client/errors.js';
import { HostNode } from '../../contract/host-nodes.js';
import { buildArchive, findRefusal, type Pack, warnAboutCode } from '../../flows/publish/pack.js';
import { toSubject, tryArchive } from '../../flows/publish/publish-pack.js';
import type { BuiltArchive } from '../../pack/archive.js';
import { scanAsComfy } from '../../pack/other-scanner.js';
import type { CodeReport } from '../../python/code-report.js';
import { toListedDefinition } from '../../python/definitions/definitions.js';
import { readCodeApart } from '../../python/reader-process.js';
import { RULES, type Rule } from '../../python/scan/finding.js';
import { formatBytes } from '../../wire/format-bytes.js';
import { readText } from '../command/command.js';
import type { Needs } from '../connect/context.js';
import { readFolder } from '../publish/publish-folder.js';
import { REPORT_FORMATS, type ReportedFinding } from '../publish/report-findings.js';
import { exitCodes, usage } from '../terminal/failure.js';
import { Progress } from '../terminal/progress.js';
import { withScratch } from '../terminal/scratch.js';
import { formatCount } from '../terminal/text.js';
import { Count, File, Row, Text } from '../views/answers.js';
import {
  allowBreakingFlag,
  allowEmptyFlag,
  allowSecretsFlag,
  dirExplain,
  publisherFlag,
} from '../views/flags.js';
import type { View } from '../views/view.js';

type Context = Needs<'command' | 'args' | 'flags' | 'system' | 'output' | 'signal' | 'services'>;

export const view = (): View => ({
  usage: 'version check [dir]',
  summary:
    'Preview what the registry will list and flag, and what `version publish` would refuse, without uploading',
  explain: dirExplain,
  tool: { flags: ['publisher'] },
  flags: {
    ...publisherFlag,
    ...allowSecretsFlag,
    ...allowEmptyFlag,
    ...allowBreakingFlag,
    '--for <choice>': {
      description: 'Also find what the scanner of another registry is known to flag (one of comfy)',
      choices: ['comfy'],
    },
    '--format <choice>': {
      description:
        'Print only the findings: as commands of a GitHub workflow, or as SARIF (one of github, sarif)',
      choices: Object.keys(REPORT_FORMATS),
    },
  },
  shape: { columns: ['kind', 'what', 'where', 'detail'] },
  notes: [
    'It exits with 6 if the version would be flagged.',
    'If --base-url or --profile names a service, or the embedded one runs, the pack is compared with its latest version. A service that is named is also asked which other nodes have definitions of the same names: the host loads only one of them.',
  ],
  examples: [
    'regen version check',
    'regen version check packs/light --json',
    'regen version check --format github',
    'regen version check --format sarif > regen.sarif',
  ],
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
  const format = readFormat(context);
  const pack = await readFolder(context, context.args.dir as string | undefined);
  await progress.stage(`Checking ${pack.manifest.node.id} ${pack.manifest.version.version}`);
  const [report, archive] = await withScratch(system.now(), (scratch) =>
    Promise.all([
      readCodeApart(pack.files),
      buildArchive(context, pack, join(scratch, 'node.zip'), progress),
    ]),
  );
  progress.end();
  const other = context.flags.for === undefined ? undefined : await scanForComfy(pack);
  const findings = [...report.findings, ...(await findTakenNames(context, pack, report))];
  const answer = { ...toAnswer(pack, report, findings), ...(other && { for: other }) };
  const isFlagged = answer.verdict === FLAGGED || other?.verdict === FLAGGED;
  const refusal = isFlagged
    ? undefined
    : findRefusal(report, { findings: false, empty: context.flags['allow-empty'] === true });
  if (!refusal) await warnAboutCode(output, report);
  const separator = output.isTable ? ', ' : ' ';
  const rows = [...toRows(report, findings, answer.verdict, separator), ...toOtherRows(other)];
  if (!format) {
    await output.answer(output.mode.json ? answer : rows, command.shape);
    const fixes = listFixes(findings);
    if (system.stderr.isTTY && fixes.length > 0) await output.note(...fixes);
  } else {
    const text = format(findings, { folder: pack.folder, root: system.cwd });
    if (text) await output.line(text);
  }
  await output.note(
    `${formatCount(pack.files.length, 'file')}, ${formatBytes(pack.size)}; nothing was uploaded.`,
  );
  if (answer.verdict === FLAGGED)
    await output.note(
      'If a high finding is wrong, publish with --allow-findings, and ask an admin of the registry for a review.',
    );
  if (isFlagged) return exitCodes.endedBadly;
  if (refusal) throw refusal;
  await compareWithPublished(context, pack, archive, report);
  return exitCodes.done;
}

/** Decided: only a service that was named on the command line is asked, or the embedded one if it runs. */
async function compareWithPublished(
  { services, signal, output, flags, system }: Context,
  pack: Pack,
  archive: BuiltArchive,
  report: CodeReport,
): Promise<void> {
  const { baseUrl, profile } = services.target;
  if (baseUrl !== undefined && !services.isTargetGiven) {
    const flag = profile === undefined ? `--base-url ${baseUrl}` : `--profile ${profile}`;
    return output.note(`Not compared with published versions; name the registry with ${flag}.`);
  }
  const code = flags['allow-breaking'] === true ? undefined : report;
  try {
    const service = await services.reachRunning();
    if (!service) return;
    const subject = toSubject(service.client, pack, signal);
    // The same files have passed before: there is nothing to fix.
    await withScratch(system.now(), (scratch) =>
      tryArchive({ scratch, code, report: output, skipExisting: true }, subject, archive),
    );
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    await output.warn(`Not compared with published versions: ${error.message}`);
  }
}

function readFormat({ flags, output }: Needs<'flags' | 'output'>) {
  const name = readText(flags, 'format');
  if (name === undefined) return undefined;
  const format = Object.hasOwn(REPORT_FORMATS, name) ? REPORT_FORMATS[name] : undefined;
  if (!format) throw usage(`--format must be ${Object.keys(REPORT_FORMATS).join(' or ')}, not '${name}'.`);
  if (output.mode.json) throw usage('--format and --json cannot be used together.');
  return format;
}

/** Finds the definitions that other nodes of the registry have, too. If it does not answer, the check goes on. */
async function findTakenNames(
  { services, signal, output }: Pick<Context, 'services' | 'signal' | 'output'>,
  { manifest }: Pack,
  { nodes }: CodeReport,
): Promise<ReportedFinding[]> {
  if (nodes.length === 0 || !services.isTargetGiven) return [];
  const body = { names: nodes.map(({ name }) => name) };
  try {
    const { client } = await services.reach();
    const { host_nodes } = await client.hostNodes.bulk({ body }, { signal });
    const own = manifest.node.id.toLowerCase();
    return nodes.flatMap(({ name, file, line }) => {
      const others = host_nodes.flatMap(({ host_node_name, node_id }) =>
        host_node_name === name && node_id && node_id.toLowerCase() !== own ? [node_id] : [],
      );
      if (others.length === 0) return [];
      const message = `The definition ${name} is in ${[...new Set(others)].join(', ')}, too; the host loads only one of them.`;
      return [{ file, line, rule: 'taken-name', severity: 'low' as const, message }];
    });
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    const isUnknown = error instanceof ServiceError && [404, 405].includes(error.status);
    if (!isUnknown) await output.warn(`Names of other nodes were not compared: ${error.message}`);
    return [];
  }
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

function toAnswer(
  { files }: Pack,
  { nodes, unresolved, unreadable }: CodeReport,
  findings: readonly ReportedFinding[],
) {
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

/** What to do about findings, once for each rule. */
function listFixes(findings: readonly ReportedFinding[]): string[] {
  const rules: Readonly<Record<string, Rule>> = RULES;
  return [...new Set(findings.map(({ rule }) => rule))].flatMap((name) => {
    const fix = rules[name]?.fix.replaceAll('`', '');
    return fix ? [`${name}: ${fix}`] : [];
  });
}

/** The answer as a table: what the registry will list, what it cannot determine, and what it will flag. */
function toRows(
  { nodes, unresolved, unreadable }: CodeReport,
  findings: readonly ReportedFinding[],
  verdict: string,
  separator: string,
): CheckRow[] {
  const computed = nodes.filter(({ unknown }) => unknown.length > 0);
  return [
    ...nodes.map((node) => {
      const { category, function: called, return_types } = node.definition;
      return toRow(
        'definition',
        node.name,
        node,
        [category, called, return_types].filter(Boolean).join(separator),
      );
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

/** How many findings flag a version and how many do not. */
function describeVerdict(findings: readonly ReportedFinding[]): string {
  const high = findings.filter(({ severity }) => severity === 'high').length;
  const low = findings.length - high;
  const flagging =
    high > 0 && `${formatCount(high, 'high finding')} flag${high === 1 ? 's' : ''} this version`;
  const noted = low > 0 && `${formatCount(low, 'low finding')} ${low === 1 ? 'is' : 'are'} only noted`;
  const counts = [flagging, noted].filter(Boolean).join('; ');
  return counts && `${counts}.`;
}
