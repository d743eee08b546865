import type { CodeReport } from '../../python/code-report.js';
import { readCodeApart } from '../../python/reader-process.js';
import { FlowError } from '../flow-error.js';
import type { Pack } from './pack.js';
import type { PublishReport, Stages } from './report.js';

/**
 * Reads the code of a pack as the service will.
 * @throws FlowError if a finding would flag the version, and `allowFindings` is not set
 */
export async function checkCode(
  pack: Pack,
  report: PublishReport,
  progress: Stages,
  allowFindings: boolean,
): Promise<CodeReport> {
  await progress.stage(`Checking ${pack.manifest.node.id} ${pack.manifest.version.version}`);
  const code = await readCodeApart(pack.files);
  progress.end();
  const flagging = code.findings.filter(({ severity }) => severity === 'high');
  if (flagging.length > 0 && !allowFindings) {
    throw new FlowError('findings', 'The registry would flag this version; nothing was sent.', {
      details: flagging.map(({ file, line, message, rule }) => ({
        path: `${file}:${line}`,
        message: `${message} (${rule})`,
      })),
    });
  }
  await warnOfGaps(report, code);
  return code;
}

/** Warns of what does not prevent publishing, but is probably a mistake. */
export async function warnOfGaps(report: PublishReport, code: CodeReport): Promise<void> {
  const { nodes, unresolved, unreadable } = code;
  if (nodes.length === 0 && unresolved.length === 0) {
    await report.warn(
      'No node definition was found. Check that __init__.py is packed and sets NODE_CLASS_MAPPINGS.',
    );
  }
  for (const { file, line, message } of unreadable) await report.warn(`${file}:${line} ${message}.`);
}
