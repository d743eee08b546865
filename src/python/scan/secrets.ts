import { secretFileKind, secretMatches } from '../../pack/secrets.js';
import { type Finding, finding } from './finding.js';

const MAX_FINDINGS = 50;

/** Secrets in one file of a pack. `content` is looked at as bytes; binary files are passed over. */
export function scanSecrets(path: string, content: Buffer): Finding[] {
  const kind = secretFileKind(path.slice(path.lastIndexOf('/') + 1));
  if (kind) return [finding(path, 1, 'secret', sentence(kind))];
  if (content.subarray(0, 8192).includes(0)) return [];
  const text = content.toString('latin1');
  const found: Finding[] = [];
  for (const match of secretMatches(text)) {
    if (found.length >= MAX_FINDINGS) break;
    found.push(finding(path, lineAt(text, match.index), 'secret', sentence(match.kind)));
  }
  return found;
}

function sentence(kind: string): string {
  const article = /^(?:[aeiouAEIOU]|npm|SSH)/.test(kind) ? 'an' : 'a';
  return `Holds ${article} ${kind}; remove it, and revoke it if it was ever published.`;
}

function lineAt(text: string, index: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at !== -1 && at < index; at = text.indexOf('\n', at + 1)) line++;
  return line;
}
