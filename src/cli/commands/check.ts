import { join } from 'node:path';
import { buildArchive } from '../../flows/publish/archive.js';
import { warnOfGaps } from '../../flows/publish/check-code.js';
import type { Pack } from '../../flows/publish/pack.js';
import type { CodeReport } from '../../python/code-report.js';
import { readCodeApart } from '../../python/reader-process.js';
import { formatBytes } from '../../wire/format-bytes.js';
import { readFolder } from '../publish/publish-folder.js';
import { exitCodes } from '../terminal/failure.js';
import { Progress } from '../terminal/progress.js';
import { withScratch } from '../terminal/scratch.js';
import type { CommandContext } from './context.js';

/** Runs all checks of `version publish` and of the registry on a pack, without sending anything. */
export async function run(context: CommandContext): Promise<number> {
  const { output, command, system } = context;
  const progress = new Progress(output);
  try {
    const pack = await readFolder(context, context.args.dir as string | undefined);
    await progress.stage(`Checking ${pack.manifest.node.id} ${pack.manifest.version.version}`);
    const [report] = await withScratch(system.now(), (scratch) =>
      Promise.all([
        readCodeApart(pack.files),
        buildArchive(context, pack, join(scratch, 'node.zip'), progress),
      ]),
    );
    progress.end();
    const answer = toAnswer(pack, report);
    await warnOfGaps(output, report);
    if (output.mode.json) await output.answer(answer);
    else await output.answer(toRows(report, answer.verdict), command.shape);
    await output.note(`${pack.files.length} files, ${formatBytes(pack.size)}; nothing was sent.`);
    return answer.verdict === ACTIVE ? exitCodes.done : exitCodes.endedBadly;
  } finally {
    progress.end();
  }
}

const ACTIVE = 'NodeVersionStatusActive';
const FLAGGED = 'NodeVersionStatusFlagged';

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
