import type { Imitation } from './builtins.js';
import { MAX_TEXT } from './operators.js';
import { type Arguments, list } from './values.js';

/**
 * Packs split class names into words with regular expressions. A pattern is the pack's own, so only those run that cannot
 * be slow: short, on short texts, at most three open repetitions, none of a group, no references back.
 */
function compiled(pattern: unknown, text: unknown): RegExp | undefined {
  if (typeof pattern !== 'string' || typeof text !== 'string' || pattern.length > 80 || text.length > 200)
    return undefined;
  const plain = pattern.replace(/\\./g, '_');
  if (/\)[*+?{]|\(\?P|\(\?[a-zA-Z]/.test(plain) || /\\[1-9AZ]/.test(pattern)) return undefined;
  if ((plain.match(/[*+]|\{\d*,/g) ?? []).length > 3) return undefined;
  try {
    return new RegExp(pattern, 'g');
  } catch {
    return undefined;
  }
}

function sub({ list: [pattern, replacement, text, ...more], named }: Arguments): string | undefined {
  const found = compiled(pattern, text);
  if (!found || typeof replacement !== 'string' || more.length > 0 || named.size > 0) return undefined;
  if (replacement.length > 100 || /\\[^1-9]/.test(replacement)) return undefined;
  // Python writes \1 where JavaScript writes $1.
  const result = String(text).replace(
    found,
    replacement.replaceAll('$', '$$$$').replace(/\\([1-9])/g, '$$$1'),
  );
  return result.length > MAX_TEXT ? undefined : result;
}

export const patterns: Record<string, Imitation> = {
  're.sub': sub,
  're.findall': ({ list: [pattern, text, ...more] }) => {
    const found = more.length === 0 ? compiled(pattern, text) : undefined;
    // With groups the result is the groups; nobody names nodes that way.
    if (!found || /\((?!\?)/.test(String(pattern).replace(/\\./g, ''))) return undefined;
    return list(String(text).match(found) ?? []);
  },
};
