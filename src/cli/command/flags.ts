import type { Leaf } from '../../contract/schema/leaves.js';
import type { Flag } from './command.js';

/** The flags of a request's fields; read-only fields and secrets have none. */
export function deriveFlags(fields: Readonly<Record<string, Leaf>>, target: readonly string[]): Flag[] {
  return Object.entries(fields)
    .filter(([, leaf]) => !leaf.readOnly && !leaf.writeOnly)
    .flatMap(([name, leaf]) => deriveFlag(name, leaf, target));
}

function deriveFlag(name: string, leaf: Leaf, target: readonly string[]): Flag | Flag[] {
  const place = [...target, name];
  if (leaf.fields) {
    return deriveFlags(leaf.fields, place).map((flag) => ({
      ...flag,
      name: `${toKebabCase(name)}.${flag.name}`,
    }));
  }
  const value = choosePlaceholder(leaf);
  const item = leaf.items ?? leaf;
  return {
    name: toKebabCase(name),
    description: describeLeaf(leaf),
    target: place,
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

/** Description, then what the schema says of its values: choices, range, length, default. */
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

// zod writes the range of a whole number's type as its bounds; only a bound somebody chose is worth a word.
const ofTypes = [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER, -(2 ** 31), 2 ** 31 - 1];

function describeRange({ minimum, maximum, maxLength }: Leaf): string | undefined {
  const [least, most] = [minimum, maximum].map((bound) =>
    bound !== undefined && ofTypes.includes(bound) ? undefined : bound,
  );
  if (least !== undefined && most !== undefined) return `${least} to ${most}`;
  if (least !== undefined) return `at least ${least}`;
  if (most !== undefined) return `at most ${most}`;
  return maxLength === undefined ? undefined : `at most ${maxLength} characters`;
}
