import { z } from 'zod';

/** A whole number of 32 bits, as in generation requests and their tasks. */
export const int32 = () => z.int32().meta({ format: 'int32' });

/** An optional list of strings. */
export const textList = (description: string, meta: { readonly readOnly?: true } = {}) =>
  z
    .array(z.string())
    .optional()
    .meta({ description, ...meta });

/** A URL that the service calls or reads. */
export const WebAddress = z.url({
  protocol: /^https?$/,
  error: 'must be a URL that begins with http or https',
});

/** A string with a maximum number of characters, counted as JSON Schema does: an emoji is one, not two. */
export function limitedText(most: number): z.ZodString {
  return z
    .string()
    .refine((value) => hasAtMost(value, most), { error: `must have at most ${most} characters` })
    .meta({ maxLength: most });
}

function hasAtMost(value: string, most: number): boolean {
  if (value.length <= most) return true;
  if (value.length > 2 * most) return false;
  let count = 0;
  for (const _ of value) count += 1;
  return count <= most;
}
