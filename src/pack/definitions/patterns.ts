import type { Imitation } from './builtins.js';
import { MAX_TEXT } from './operators.js';
import { type Arguments, list, type Machine } from './values.js';

/**
 * Packs split class names into words with regular expressions. A pattern is the pack's own, so only those run that cannot
 * be slow: short, on short texts, at most two open repetitions, none of a group, no references back.
 */
function compiled(pattern: unknown, text: unknown, machine: Machine): RegExp | undefined {
  if (typeof pattern !== 'string' || typeof text !== 'string' || pattern.length > 80 || text.length > 100)
    return undefined;
  const plain = pattern.replace(/\\./g, '_');
  if (/\)[*+?{]|\(\?P|\(\?[a-zA-Z]/.test(plain) || /\\[1-9AZ]/.test(pattern)) return undefined;
  const open = (plain.match(/[*+]|\{\d*,/g) ?? []).length;
  if (open > 2) return undefined;
  // A start at each character, and an end at each for every repetition.
  machine.spend(text.length ** (open + 1) / 20);
  try {
    return new RegExp(pattern, 'g');
  } catch {
    return undefined;
  }
}

function sub(
  { list: [pattern, replacement, text, ...more], named }: Arguments,
  machine: Machine,
): string | undefined {
  const found = compiled(pattern, text, machine);
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
  're.findall': ({ list: [pattern, text, ...more] }, machine) => {
    const found = more.length === 0 ? compiled(pattern, text, machine) : undefined;
    // With groups the result is the groups; nobody names nodes that way.
    if (!found || /\((?!\?)/.test(String(pattern).replace(/\\./g, ''))) return undefined;
    return list(String(text).match(found) ?? []);
  },
};
