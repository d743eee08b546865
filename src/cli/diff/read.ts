/** One input of a definition. */
export interface Input {
  readonly required: boolean;
  /** Type name; `COMBO` for a list of choices. */
  readonly type: string;
  readonly choices: readonly string[];
  /** Whether it has a value where nothing is connected and nothing was saved. */
  readonly hasDefault: boolean;
  /** What its value is at first; undefined where none is written. */
  readonly initial: unknown;
  /** Bounds of a number. */
  readonly min: number | undefined;
  readonly max: number | undefined;
}

/** The type of an input that only running the pack would tell. */
export const computed = 'computed';

/** Types that are edited in the node itself, so that a value is always there. */
const widgets = new Set(['INT', 'FLOAT', 'STRING', 'BOOLEAN', 'COMBO']);

/** Reads the JSON text of input_types; undefined where it is no such object. */
export function readInputs(text: string | undefined): Map<string, Input> | undefined {
  const whole = parseJson(text);
  if (!isObject(whole)) return undefined;
  const inputs = new Map<string, Input>();
  for (const part of ['required', 'optional'] as const) {
    const group = whole[part];
    if (!isObject(group)) continue;
    for (const [name, written] of Object.entries(group))
      inputs.set(name, toInput(written, part === 'required'));
  }
  return inputs;
}

function toInput(written: unknown, required: boolean): Input {
  const [kind, options] = Array.isArray(written) ? written : [written, undefined];
  const listed = Array.isArray(kind)
    ? kind
    : isObject(options) && Array.isArray(options.options)
      ? options.options
      : [];
  const type = Array.isArray(kind) ? 'COMBO' : typeof kind === 'string' ? kind : computed;
  const facts = isObject(options) ? options : {};
  return {
    required,
    type,
    choices: listed.map(String),
    hasDefault: 'default' in facts || widgets.has(type),
    initial: facts.default,
    min: toNumber(facts.min),
    max: toNumber(facts.max),
  };
}

function toNumber(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

/** Reads the JSON text of a list of names; undefined where it is none. */
export function readList(text: string | undefined): string[] | undefined {
  const list = parseJson(text);
  return Array.isArray(list)
    ? list.map((item) => (typeof item === 'string' ? item : JSON.stringify(item)))
    : undefined;
}

function parseJson(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? 'null');
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
