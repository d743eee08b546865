import type { Finding } from '../../pack/scan/finding.js';

const most = 20;

/** Findings as a version's status_reason: the high ones first, each with its place on a line of its own; undefined where there are none. */
export function findingsReason(findings: readonly Finding[]): string | undefined {
  if (findings.length === 0) return undefined;
  const high = findings.filter(({ severity }) => severity === 'high');
  const low = findings.filter(({ severity }) => severity !== 'high');
  const shown = [...high, ...low].slice(0, most);
  const more = findings.length - shown.length;
  const sentences = shown.map(({ file, line, message, rule }) => `${file}:${line} ${message} (${rule})`);
  return [...sentences, ...(more > 0 ? [`And ${more} more.`] : [])].join('\n');
}
