import type { Leaf } from '../../contract/schema/leaves.js';
import type { Flag } from './command.js';

/** Derives flags from the fields of a request. Read-only fields and secrets have no flag. */
export function deriveFlags(fields: Readonly<Record<string, Leaf>>, target: readonly string[]): Flag[] {
  return Object.entries(fields)
    .filter(([, leaf]) => !leaf.readOnly && !leaf.writeOnly)
    .flatMap(([name, leaf]) => deriveFlag(name, leaf, target));
}

function deriveFlag(name: string, leaf: Leaf, target: readonly string[]): Flag | Flag[] {
  const path = [...target, name];
  if (leaf.fields) {
    return deriveFlags(leaf.fields, path).map((flag) => ({
      ...flag,
      name: `${toKebabCase(name)}.${flag.name}`,
    }));
  }
  const value = choosePlaceholder(leaf);
  const item = leaf.items ?? leaf;
  return {
    name: toKebabCase(name),
    description: describeLeaf(leaf),
    target: path,
    type: { type: leaf.type, ...(leaf.items && { items: { type: leaf.items.type, required: true } }) },
    ...(value ? { value } : { negatable: true }),
    ...(leaf.items && { repeat: true }),
    ...(item.enum && { choices: item.enum.map(String) }),
  };
}

export function toKebabCase(name: string): string {
  return name
    .replace(/_/g, '-')
    .replace(/([a-z])([A-Z])/g, '$1-$2')
    .toLowerCase();
}

function choosePlaceholder(leaf: Leaf): string | undefined {
  if (leaf.type === 'boolean') return undefined;
  if (leaf.type === 'object') return 'json';
  if ((leaf.items ?? leaf).enum) return 'choice';
  if (leaf.format === 'date-time') return 'date-time';
  const type = (leaf.items ?? leaf).type;
  return type === 'integer' || type === 'number' ? 'number' : 'text';
}

/** The description, then the choices, range, length and default of the schema. */
function describeLeaf(leaf: Leaf): string {
  const facts = [
    leaf.required && 'required',
    (leaf.items ?? leaf).enum && `one of ${(leaf.items ?? leaf).enum?.join(', ')}`,
    describeRange(leaf),
    leaf.items && leaf.maxItems !== 1 && 'repeatable',
    leaf.deprecated && 'deprecated',
    leaf.default !== undefined && `default ${String(leaf.default)}`,
  ].filter(Boolean);
  const words = leaf.description ?? '';
  return facts.length > 0 ? `${words}${words && ' '}(${facts.join('; ')})` : words;
}

// zod reports the range of the integer type as bounds; only bounds of the contract are shown.
const TYPE_BOUNDS = [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER, -(2 ** 31), 2 ** 31 - 1];

function describeRange({ minimum, maximum, maxLength }: Leaf): string | undefined {
  const [low, high] = [minimum, maximum].map((bound) =>
    bound !== undefined && TYPE_BOUNDS.includes(bound) ? undefined : bound,
  );
  if (low !== undefined && high !== undefined) return `${low} to ${high}`;
  if (low !== undefined) return `at least ${low}`;
  if (high !== undefined) return `at most ${high}`;
  return maxLength === undefined ? undefined : `at most ${maxLength} characters`;
}
