import { shortenStatus } from '../../contract/status-names.js';
import type { OperationAnswer } from '../operation/call.js';
import { html } from './html.js';
import type { Draw } from './page.js';

/** Pixels of an average letter at this size. */
const LETTER = 6.6;
const COLORS: Readonly<Record<string, string>> = { active: '#2e7d32', flagged: '#a15c00', banned: '#b3261e' };

/** The latest version of a node and its verdict, for READMEs. */
export const drawBadge: Draw<'node.get'> = ({
  status,
  latest_version: latest,
}: OperationAnswer<'node.get'>) => {
  const word = status === 'NodeStatusBanned' ? 'banned' : shortenStatus(latest?.status ?? '') || 'no version';
  const value = latest?.version && word === 'active' ? latest.version.slice(0, 30) : word;
  const color = COLORS[word] ?? '#555555';
  const [left, right] = [52, Math.round(value.length * LETTER) + 14];
  return html`<svg xmlns="http://www.w3.org/2000/svg" width="${left + right}" height="20" role="img" aria-label="node: ${value}"><title>node: ${value}</title><rect width="${left + right}" height="20" rx="3" fill="#555"/><rect x="${left}" width="${right}" height="20" rx="3" fill="${color}"/><rect x="${left}" width="6" height="20" fill="${color}"/><g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" text-anchor="middle"><text x="${left / 2}" y="14">node</text><text x="${left + right / 2}" y="14">${value}</text></g></svg>`;
};
