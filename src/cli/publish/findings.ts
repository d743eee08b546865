import type { CodeReport } from '../../pack/code.js';
import { readCodeApart } from '../../pack/thread.js';
import { exitCodes, Failure } from '../failure.js';
import type { Invocation } from '../invocation.js';
import type { Progress } from '../progress.js';
import type { Pack } from './pack.js';

/**
 * Reads a pack's code as the service will.
 * @throws Failure where a finding would flag the version, unless `--allow-findings`
 */
export async function checkCode(invocation: Invocation, pack: Pack, progress: Progress): Promise<CodeReport> {
  await progress.stage(`Checking ${pack.manifest.node.id} ${pack.manifest.version.version}`);
  const report = await readCodeApart(pack.files);
  progress.end();
  const flagging = report.findings.filter(({ severity }) => severity === 'high');
  if (flagging.length > 0 && !invocation.flags['allow-findings']) {
    throw new Failure('The registry would flag this version; nothing was sent.', {
      code: 'findings',
      exit: exitCodes.endedBadly,
      details: flagging.map(({ file, line, message, rule }) => ({
        path: `${file}:${line}`,
        message: `${message} (${rule})`,
      })),
      hint: 'Mend it, or let the registry decide with --allow-findings.',
    });
  }
  return report;
}
