import { join } from 'node:path';
import { buildArchive, type Pack, warnOfGaps } from '../../flows/publish/pack.js';
import { type ScannerFinding, scanAsComfy } from '../../pack/other-scanner.js';
import type { CodeReport } from '../../python/code-report.js';
import { readCodeApart } from '../../python/reader-process.js';
import { formatBytes } from '../../wire/format-bytes.js';
import { readText } from '../command/command.js';
import type { CommandContext } from '../connect/context.js';
import { readFolder } from '../publish/publish-folder.js';
import { exitCodes, usage } from '../terminal/failure.js';
import { Progress } from '../terminal/progress.js';
import { withScratch } from '../terminal/scratch.js';

/** Runs all checks of `version publish` and of the registry on a pack, without sending anything. */
export async function run(context: CommandContext): Promise<number> {
  const { output, command, system } = context;
  const progress = new Progress(output);
  try {
    requireRegistry(readText(context.flags, 'for'));
    const pack = await readFolder(context, context.args.dir as string | undefined);
    await progress.stage(`Checking ${pack.manifest.node.id} ${pack.manifest.version.version}`);
    const [report] = await withScratch(system.now(), (scratch) =>
      Promise.all([
        readCodeApart(pack.files),
        buildArchive(context, pack, join(scratch, 'node.zip'), progress),
      ]),
    );
    progress.end();
    const other = await scanFor(context, pack);
    const answer = { ...toAnswer(pack, report), ...(other && { for: other }) };
    await warnOfGaps(output, report);
    if (output.mode.json) await output.answer(answer);
    else await output.answer([...toRows(report, answer.verdict), ...toOtherRows(other)], command.shape);
    await output.note(`${pack.files.length} files, ${formatBytes(pack.size)}; nothing was sent.`);
    const isFlagged = answer.verdict === FLAGGED || other?.verdict === FLAGGED;
    return isFlagged ? exitCodes.endedBadly : exitCodes.done;
  } finally {
    progress.end();
  }
}

function requireRegistry(name: string | undefined): void {
  if (name !== undefined && name !== 'comfy') throw usage(`--for must be comfy, not '${name}'.`);
}

const ACTIVE = 'NodeVersionStatusActive';
const FLAGGED = 'NodeVersionStatusFlagged';

/** What the scanner of another registry would say of the pack. */
interface OtherVerdict {
  readonly registry: string;
  readonly findings: readonly ScannerFinding[];
  readonly verdict: string;
}

async function scanFor({ flags }: CommandContext, pack: Pack): Promise<OtherVerdict | undefined> {
  const registry = readText(flags, 'for');
  if (registry === undefined) return undefined;
  const findings = await scanAsComfy(pack.files);
  return { registry, findings, verdict: findings.length > 0 ? FLAGGED : ACTIVE };
}

function toOtherRows(other: OtherVerdict | undefined): CheckRow[] {
  if (!other) return [];
  return [
    ...other.findings.map(({ rule, file, line, match, instead, source, date }) => ({
      kind: other.registry,
      what: rule,
      where: `${file}:${line}`,
      detail: `${match} ${instead}. (${source}, ${date})`,
    })),
    { kind: other.registry, what: other.verdict, where: '', detail: '' },
  ];
}

function toAnswer({ files }: Pack, { nodes, unresolved, unreadable, findings }: CodeReport) {
  return {
    files: files.map(({ path, size }) => ({ path, size })),
    definitions: nodes.map(({ name, definition }) => ({ ...definition, host_node_name: name })),
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

interface CheckRow {
  readonly kind: string;
  readonly what: string;
  readonly where: string;
  readonly detail: string;
}

/** The answer as a table: what the registry will list, what it cannot determine, and what it will flag. */
function toRows({ nodes, unresolved, unreadable, findings }: CodeReport, verdict: string): CheckRow[] {
  const place = ({ file, line }: { file: string; line: number }) => `${file}:${line}`;
  return [
    ...nodes.map((node) => ({
      kind: 'definition',
      what: node.name,
      where: place(node),
      detail: [node.definition.category, node.definition.function, node.definition.return_types]
        .filter(Boolean)
        .join(' '),
    })),
    ...nodes
      .filter(({ unknown }) => unknown.length > 0)
      .map((node) => ({
        kind: 'unknown',
        what: node.name,
        where: place(node),
        detail: `computed at run time: ${node.unknown.join(', ')}`,
      })),
    ...unresolved.map((gap) => ({ kind: 'unknown', what: '', where: place(gap), detail: gap.what })),
    ...unreadable.map((file) => ({ kind: 'unknown', what: '', where: place(file), detail: file.message })),
    ...findings.map((finding) => ({
      kind: finding.severity,
      what: finding.rule,
      where: place(finding),
      detail: finding.message,
    })),
    { kind: 'verdict', what: verdict, where: '', detail: '' },
  ];
}
