import { isRecord } from '../../contract/json.js';
import { describeFields, type FieldDescription } from '../../contract/schema/fields.js';
import { parseText } from '../../contract/schema/parse-text.js';
import type { Problem } from '../../contract/schema/schema-types.js';
import { STANDARD_PORT } from '../../wire/standard-port.js';
import { Configuration } from './configuration.js';
import { formatMeasure, type MeasureUnit } from './measure.js';
import { formatPath } from './start-errors.js';

/** One setting of the service, as a configuration file, the environment and the documentation name it. */
export interface Setting {
  /** Its place in the configuration file. */
  readonly path: readonly string[];
  /** Its environment variable; with `_FILE` appended, the variable names a file that holds the value. */
  readonly variable: string;
  readonly field: FieldDescription;
  /** What holds if nothing sets it; undefined if it is not set then. */
  readonly standard: unknown;
}

const PREFIX = 'REGEN_SERVE_';

/** The defaults of `regen serve` that differ from those of the library. */
const SERVE_DEFAULTS = { port: STANDARD_PORT };

/** Lists the settings in the order of their declaration; a list of objects is one setting. */
export function listSettings(): Setting[] {
  const { version: _, idleMs: __, ...fields } = describeFields(Configuration);
  return listWithin(fields, { ...Configuration.parse({}), ...SERVE_DEFAULTS }, []);
}

/** @param standards what holds if nothing is set */
function listWithin(
  fields: Readonly<Record<string, FieldDescription>>,
  standards: Readonly<Record<string, unknown>>,
  within: readonly string[],
): Setting[] {
  return Object.entries(fields).flatMap(([name, field]) => {
    const path = [...within, name];
    const standard = standards[name] ?? field.default ?? field.shown?.default;
    if (field.fields) return listWithin(field.fields, (standards[name] ?? {}) as typeof standards, path);
    return [{ path, variable: toVariable(path), field, standard }];
  });
}

/** @example toVariable(['generation', 'image', 'baseUrl']) // 'REGEN_SERVE_GENERATION__IMAGE__BASE_URL' */
function toVariable(path: readonly string[]): string {
  const words = path.map((name) =>
    name
      .replace(/([a-z])([A-Z])/g, '$1_$2')
      .replace(/[^A-Za-z0-9]/g, '_')
      .toUpperCase(),
  );
  return PREFIX + words.join('__');
}

/**
 * Reads the settings from the variables that begin with REGEN_SERVE_. Lists and maps are JSON.
 * @param readFile reads the file that a variable ending in _FILE names; throws if it cannot
 * @returns settings in the shape of a configuration file
 */
export function readEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  readFile: (path: string) => string,
): { readonly settings: Record<string, unknown>; readonly problems: readonly Problem[] } {
  const byVariable = new Map(listSettings().map((setting) => [setting.variable, setting]));
  const settings: Record<string, unknown> = {};
  const problems: Problem[] = [];
  for (const [variable, value] of Object.entries(env)) {
    if (!variable.startsWith(PREFIX) || value === undefined) continue;
    const fromFile = !byVariable.has(variable) && variable.endsWith('_FILE');
    const setting = byVariable.get(fromFile ? variable.slice(0, -'_FILE'.length) : variable);
    if (!setting) {
      problems.push({ path: [variable], message: 'is not the variable of a setting' });
      continue;
    }
    if (fromFile && env[setting.variable] !== undefined) {
      problems.push({ path: [variable], message: `and ${setting.variable} are both set; unset one` });
      continue;
    }
    try {
      const text = fromFile ? readFile(value).trim() : value;
      setAt(settings, setting.path, parseSetting(setting.field, text));
    } catch (error) {
      problems.push({ path: [variable], message: (error as Error).message });
    }
  }
  return { settings, problems };
}

function parseSetting(field: FieldDescription, text: string): unknown {
  const types = [field.type ?? 'string'].flat();
  if (!types.includes('array') && !types.includes('object')) return parseText(field, text);
  const scalar = parseText(field, text);
  if (typeof scalar !== 'string') return scalar;
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`must be JSON, such as ${types.includes('array') ? '["…"]' : '{"…": "…"}'}`);
  }
}

function setAt(object: Record<string, unknown>, path: readonly string[], value: unknown): void {
  const [name = '', ...rest] = path;
  object[name] = rest.length === 0 ? value : (object[name] ?? {});
  if (rest.length > 0) setAt(object[name] as Record<string, unknown>, rest, value);
}

/** Merges settings, table by table; the later wins. */
export function mergeSettings(
  below: Readonly<Record<string, unknown>>,
  above: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const merged: Record<string, unknown> = { ...below };
  for (const [name, value] of Object.entries(above)) {
    const existing = merged[name];
    merged[name] = isRecord(existing) && isRecord(value) ? mergeSettings(existing, value) : value;
  }
  return merged;
}

/** Writes a configuration file (TOML) in which every setting stands as a comment with its default, or an example. */
export function writeConfigurationFile(): string {
  const lines = [
    '# Settings of `regen serve`. A line such as #host = "127.0.0.1" shows a default. To change it, remove its #.',
    '# Where a comment says "Not set", the value is an example.',
    '# Sizes may have units ("500MB", "10GiB"), and so may times ("90s", "15m", "30d").',
    '# Tables from the documentation, such as [generation.image], can be pasted at the end.',
  ];
  for (const setting of listSettings()) {
    const { path, field, standard } = setting;
    lines.push('', ...describeSetting(field).map((line) => `# ${line}`));
    if (standard === undefined) lines.push('# Not set. Example:');
    lines.push(`#${formatPath(path)} = ${formatStandard(setting) ?? writeExample(field)}`);
  }
  return `${lines.join('\n')}\n`;
}

/** Writes what holds if nothing sets a setting, with its unit; undefined if it is not set then. */
export function formatStandard({ standard, field: { unit } }: Setting): string | undefined {
  if (standard === undefined) return undefined;
  const measured =
    unit && typeof standard === 'number' ? formatMeasure(unit as MeasureUnit, standard) : standard;
  return JSON.stringify(measured);
}

/** Explains a setting in sentences, the fields of a list's items included. */
export function describeSetting({ description, enum: choices, items }: FieldDescription): string[] {
  const fields = Object.entries(items?.fields ?? {});
  return [
    ...(description ? [`${description}.`] : []),
    ...(choices ? [`One of: ${choices.join(', ')}.`] : []),
    ...fields.map(
      ([name, field]) => `${name}${field.required ? ' (required)' : ''}: ${describeSetting(field).join(' ')}`,
    ),
  ];
}

/** Writes the example of a setting that is not set. */
function writeExample({ examples = [], shown }: FieldDescription): string {
  return JSON.stringify(shown?.example ?? examples[0]);
}
