import type { FieldDescription } from '../../contract/schema/fields.js';
import { shortenStatus } from '../../contract/status-names.js';
import type { Flag } from './command.js';

type FlagDetails = Pick<Flag, 'repeat' | 'choices' | 'hidden' | 'only'>;

/**
 * Declares a flag as help shows it.
 * @param usage `--no-wait`, or with a short name and a placeholder for its value: `-o, --output <path>`
 */
export function flag(usage: string, description: string, more: FlagDetails = {}): Flag {
  const [, short, name = '', value] = /^(?:-(\w), )?--([^ ]+)(?: <(.+)>)?$/.exec(usage) ?? [];
  return { name, ...(short && { short }), ...(value && { value }), description, ...more };
}

/** Flags by their usage: what help says of them, or that and more. */
export type Flags = Readonly<Record<string, string | (Pick<Flag, 'description'> & FlagDetails)>>;

export function toFlags(flags: Flags): Flag[] {
  return Object.entries(flags).map(([usage, about]) =>
    typeof about === 'string' ? flag(usage, about) : flag(usage, about.description, about),
  );
}

/** Derives flags from the fields of a request. Read-only fields and secrets have no flag. */
export function deriveFlags(
  fields: Readonly<Record<string, FieldDescription>>,
  target: readonly string[],
): Flag[] {
  return Object.entries(fields)
    .filter(([, field]) => !field.readOnly && !field.writeOnly)
    .flatMap(([name, field]) => deriveFlag(name, field, target));
}

function deriveFlag(name: string, field: FieldDescription, target: readonly string[]): Flag | Flag[] {
  const path = [...target, name];
  if (field.fields) {
    return deriveFlags(field.fields, path).map((flag) => ({
      ...flag,
      name: `${toKebabCase(name)}.${flag.name}`,
    }));
  }
  const value = choosePlaceholder(field);
  const item = field.items ?? field;
  return {
    name: toKebabCase(name),
    description: describeField(field),
    target: path,
    type: { type: field.type, ...(field.items && { items: { type: field.items.type, required: true } }) },
    ...(value ? { value } : { negatable: true }),
    ...(field.items && { repeat: true }),
    ...(item.enum && { choices: item.enum.map(String) }),
  };
}

export function toKebabCase(name: string): string {
  return name
    .replace(/_/g, '-')
    .replace(/([a-z])([A-Z])/g, '$1-$2')
    .toLowerCase();
}

function choosePlaceholder(field: FieldDescription): string | undefined {
  if (field.type === 'boolean') return undefined;
  if (field.type === 'object') return 'json';
  if ((field.items ?? field).enum) return 'choice';
  if (field.format === 'date-time') return 'date-time';
  const type = (field.items ?? field).type;
  return type === 'integer' || type === 'number' ? 'number' : 'text';
}

/** The choices as help shows them; statuses by their short names. */
export function formatChoices(choices: FieldDescription['enum'] = []): string {
  return choices.map((choice) => shortenStatus(String(choice)) ?? choice).join(', ');
}

/** The description, then the choices, range, length and default of the schema. */
function describeField(field: FieldDescription): string {
  const facts = [
    field.required && 'required',
    (field.items ?? field).enum && `one of ${formatChoices((field.items ?? field).enum)}`,
    field.format === 'date-time' ? 'a date alone means 00:00 UTC' : describeRange(field),
    field.items &&
      field.maxItems !== 1 &&
      (field.items.enum ? 'repeatable or comma-separated' : 'repeatable'),
    field.deprecated && 'deprecated',
    field.default !== undefined && `default ${formatChoices([field.default].flat().map(String))}`,
  ].filter(Boolean);
  const words = field.description ?? '';
  return facts.length > 0 ? `${words}${words && ' '}(${facts.join('; ')})` : words;
}

// zod reports the range of the integer type as bounds; only bounds of the contract are shown.
const TYPE_BOUNDS = [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER, -(2 ** 31), 2 ** 31 - 1];

function describeRange({
  minimum,
  maximum,
  maxLength,
  pattern,
  format,
}: FieldDescription): string | undefined {
  const [low, high] = [minimum, maximum].map((bound) =>
    bound !== undefined && TYPE_BOUNDS.includes(bound) ? undefined : bound,
  );
  if (low !== undefined && high !== undefined) return `${low} to ${high}`;
  if (low !== undefined) return `at least ${low}`;
  if (high !== undefined) return `at most ${high}`;
  const isDate = format === 'date-time' || pattern?.startsWith('^\\d');
  return maxLength !== undefined && !isDate ? `at most ${maxLength} characters` : undefined;
}
