/** One input of a definition. */
export interface Input {
  readonly required: boolean;
  /** Type name; `COMBO` for a list of choices. */
  readonly type: string;
  readonly choices: readonly string[];
  /** Whether it is edited in the node. */
  readonly isWidget: boolean;
  /** Whether it has a value if nothing is connected and nothing was saved. */
  readonly hasDefault: boolean;
  /** The declared default value; undefined if there is none. */
  readonly initial: unknown;
  /** Bounds of a number. */
  readonly min: number | undefined;
  readonly max: number | undefined;
}

/** The type of an input that is computed at run time. */
export const COMPUTED = 'computed';

/** Types that are edited in the node, so they always have a value. */
const WIDGET_TYPES = new Set(['INT', 'FLOAT', 'STRING', 'BOOLEAN', 'COMBO']);

/** Parses the JSON text of input_types; undefined if it is not an object. */
export function readInputs(text: string | undefined): Map<string, Input> | undefined {
  const whole = parseJson(text);
  if (!isObject(whole)) return undefined;
  const inputs = new Map<string, Input>();
  for (const part of ['required', 'optional'] as const) {
    const group = whole[part];
    if (!isObject(group)) continue;
    for (const [name, declared] of Object.entries(group))
      inputs.set(name, toInput(declared, part === 'required'));
  }
  return inputs;
}

function toInput(declared: unknown, required: boolean): Input {
  const [kind, options] = Array.isArray(declared) ? declared : [declared, undefined];
  const listed = Array.isArray(kind)
    ? kind
    : isObject(options) && Array.isArray(options.options)
      ? options.options
      : [];
  const type = Array.isArray(kind) ? 'COMBO' : typeof kind === 'string' ? kind : COMPUTED;
  const settings = isObject(options) ? options : {};
  return {
    required,
    type,
    choices: listed.map(String),
    isWidget: WIDGET_TYPES.has(type) && settings.forceInput !== true,
    hasDefault: 'default' in settings || WIDGET_TYPES.has(type),
    initial: settings.default,
    min: toNumber(settings.min),
    max: toNumber(settings.max),
  };
}

function toNumber(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

/** Parses the JSON text of a list of names; undefined if it is not a list. */
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
