import { z } from 'zod';
import type { FieldDescription } from '../../contract/schema/fields.js';

/** Units by their names in a setting, in the unit of its number. */
const UNITS = {
  bytes: {
    ...{ B: 1, kB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12 },
    ...{ KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3, TiB: 1024 ** 4 },
  },
  milliseconds: { ms: 1, s: 1e3, m: 60e3, h: 3_600e3, d: 86_400e3 },
  seconds: { s: 1, m: 60, h: 3_600, d: 86_400 },
  days: { d: 1 },
} as const satisfies Record<string, Readonly<Record<string, number>>>;

export type MeasureUnit = keyof typeof UNITS;

const EXAMPLES: Readonly<Record<MeasureUnit, string>> = {
  ...{ bytes: 'a size such as "10GB"', milliseconds: 'a time such as "5s"' },
  ...{ seconds: 'a time such as "15m"', days: 'a time such as "90d"' },
};

/**
 * A number with a unit, such as "10GB" or "5s"; without one it counts in `unit`.
 * @param schema of the number in `unit`
 * @param shown what documents say: JSON Schema has neither defaults nor examples of values that are converted
 */
export function measure<Value, Input>(
  unit: MeasureUnit,
  schema: z.ZodType<Value, Input>,
  shown?: FieldDescription['shown'],
): z.ZodType<Value, Input | string> {
  const parsed = z.preprocess((value, context) => {
    if (typeof value !== 'string') return value;
    const number = parseMeasure(unit, value);
    if (number === undefined)
      context.addIssue({ code: 'custom', message: `must be ${EXAMPLES[unit]}, or a number of ${unit}` });
    return number ?? value;
  }, schema);
  return parsed.meta({ unit, ...(shown && { shown }) }) as unknown as z.ZodType<Value, Input | string>;
}

function parseMeasure(unit: MeasureUnit, text: string): number | undefined {
  const [, number = '', name = ''] = /^(\d{1,15}(?:\.\d{1,6})?) ?([A-Za-z]{0,3})$/.exec(text.trim()) ?? [];
  const units: Readonly<Record<string, number>> = UNITS[unit];
  const size = name === '' ? 1 : Object.entries(units).find(([one]) => isSameUnit(one, name))?.[1];
  // 1.1GB is a whole number of bytes, although 1.1 has no exact representation.
  return number === '' || size === undefined ? undefined : Math.round(Number(number) * size * 1e6) / 1e6;
}

function isSameUnit(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

/** Writes a number with the largest unit that leaves it whole: `100MiB`, `10s`. */
export function formatMeasure(unit: MeasureUnit, value: number): string {
  const units = Object.entries(UNITS[unit]).sort(([, one], [, other]) => other - one);
  const [name, size] =
    units.find(([, size]) => value !== 0 && value % size === 0) ?? (units.at(-1) as [string, number]);
  return `${value / size}${name}`;
}
