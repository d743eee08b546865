import type { CodeReport } from '../../python/code-report.js';
import { readCodeApart } from '../../python/reader-process.js';
import { exitCodes, Failure } from '../terminal/failure.js';
import type { Output } from '../terminal/output.js';
import type { Stages } from '../terminal/progress.js';
import type { Pack } from './pack.js';
import type { PublishContext } from './publishing.js';

/**
 * Reads the code of a pack as the service will.
 * @throws Failure if a finding would flag the version, without `--allow-findings`
 */
export async function checkCode(
  { flags, output }: Pick<PublishContext, 'flags' | 'output'>,
  pack: Pack,
  progress: Stages,
): Promise<CodeReport> {
  await progress.stage(`Checking ${pack.manifest.node.id} ${pack.manifest.version.version}`);
  const report = await readCodeApart(pack.files);
  progress.end();
  const flagging = report.findings.filter(({ severity }) => severity === 'high');
  if (flagging.length > 0 && !flags['allow-findings']) {
    throw new Failure('The registry would flag this version; nothing was sent.', {
      code: 'findings',
      exit: exitCodes.endedBadly,
      details: flagging.map(({ file, line, message, rule }) => ({
        path: `${file}:${line}`,
        message: `${message} (${rule})`,
      })),
      hint: 'Fix it, or pass --allow-findings to publish anyway.',
    });
  }
  await warnOfGaps(output, report);
  return report;
}

/** Warns of what does not prevent publishing, but is probably a mistake. */
export async function warnOfGaps(output: Output, report: CodeReport): Promise<void> {
  const { nodes, unresolved, unreadable } = report;
  if (nodes.length === 0 && unresolved.length === 0) {
    await output.warn(
      'No node definition was found. Check that __init__.py is packed and sets NODE_CLASS_MAPPINGS.',
    );
  }
  for (const { file, line, message } of unreadable) await output.warn(`${file}:${line} ${message}.`);
}
