import { z } from 'zod';

/** A whole number of 32 bits, as generation requests and their tasks count. */
export const int32 = () => z.int32().meta({ format: 'int32' });

/** An address on the web that the service calls or reads. */
export const WebAddress = z.url({
  protocol: /^https?$/,
  error: 'must be a URL that begins with http or https',
});

/**
 * A text of at most so many characters, counted as people and JSON Schema do: an emoji is one, not the two that
 * JavaScript's length says.
 */
export function text(most: number): z.ZodString {
  return z
    .string()
    .refine((value) => isWithin(value, most), { error: `must hold at most ${most} characters` })
    .meta({ maxLength: most });
}

function isWithin(value: string, most: number): boolean {
  if (value.length <= most) return true;
  if (value.length > 2 * most) return false;
  let count = 0;
  for (const _ of value) count += 1;
  return count <= most;
}
