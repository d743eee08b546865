import { findSecretFileKind, findSecretMatches } from '../../pack/secrets.js';
import { createFinding, type Finding } from './finding.js';

const MAX_FINDINGS = 50;

/** Secrets in one file of a pack. `content` is searched as bytes; binary files are skipped. */
export function scanSecrets(path: string, content: Buffer): Finding[] {
  const kind = findSecretFileKind(path.slice(path.lastIndexOf('/') + 1));
  if (kind) return [createFinding(path, 1, 'secret', describeSecret(kind))];
  if (content.subarray(0, 8192).includes(0)) return [];
  const text = content.toString('latin1');
  const found: Finding[] = [];
  for (const match of findSecretMatches(text)) {
    if (found.length >= MAX_FINDINGS) break;
    found.push(createFinding(path, findLine(text, match.index), 'secret', describeSecret(match.kind)));
  }
  return found;
}

function describeSecret(kind: string): string {
  const article = /^(?:[aeiouAEIOU]|npm|SSH)/.test(kind) ? 'an' : 'a';
  return `Holds ${article} ${kind}; remove it, and revoke it if it was ever published.`;
}

function findLine(text: string, index: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at !== -1 && at < index; at = text.indexOf('\n', at + 1)) line++;
  return line;
}
