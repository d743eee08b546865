import { z } from 'zod';

/** An object that documents know by a name; fields that it does not declare are left out of answers and ignored. */
export function defineObject<Shape extends z.ZodRawShape>(id: string, shape: Shape) {
  return z.object(shape).meta({ id });
}

/** An object of a request that documents know by a name; other fields are refused. */
export function defineRequest<Shape extends z.ZodRawShape>(id: string, shape: Shape) {
  return z.strictObject(shape).meta({ id });
}

/** A whole number of 32 bits, as in generation requests and their tasks. */
export const int32 = () => z.int32().meta({ format: 'int32' });

export const positiveInt = (standard: number, description: string) =>
  z.int().positive().default(standard).describe(description);

/** A field that the service sets; it is ignored in requests. */
export function readOnly<Schema extends z.ZodType>(
  schema: Schema,
  description?: string,
  meta: { readonly 'x-extension'?: true } = {},
) {
  return schema
    .optional()
    .meta({ ...(description !== undefined && { description }), readOnly: true, ...meta });
}

type Words<Text extends string> = Text extends `${infer One} ${infer Rest}` ? One | Words<Rest> : Text;

/** One of several words: `choice('small large')`. */
export function choice<const Text extends string>(words: Text) {
  return z.enum(words.split(' ') as [Words<Text>, ...Words<Text>[]]);
}

// Decided: every text of a request has a maximum length. Images are limited in bytes, as `limits.ts` says.
/** A string with a maximum number of characters, counted as JSON Schema does: an emoji is one, not two. */
export function limitedText(most: number): z.ZodString {
  return z
    .string()
    .refine((value) => hasAtMost(value, most), { error: `must have at most ${most} characters` })
    .meta({ maxLength: most });
}

export const MAX_URL = 4096;
/** Checked before parsing: a very long host takes seconds to parse. */
export const URL_TOO_LONG = `must have at most ${MAX_URL} characters`;

/** Signed URLs of results are long. */
const MAX_PARSED_URL = 16_384;

/** Whether a text is a URL, and not so long that parsing it takes noticeable time. */
export function isUrl(text: string): boolean {
  return text.length <= MAX_PARSED_URL && URL.canParse(text);
}

export const text = {
  name: limitedText(200),
  line: limitedText(1000),
  url: limitedText(MAX_URL),
  long: limitedText(100_000),
};

/** An optional text of a query, which selects what is listed. */
export const filter = (most: number, description: string) =>
  z.string().min(1).max(most).optional().describe(description);

export const textList = (description: string, meta: { readonly readOnly?: true } = {}) =>
  z
    .array(text.line)
    .optional()
    .meta({ description, ...meta });

/** A URL that the service calls or reads. */
export const WebAddress = z
  .string()
  .max(MAX_URL, { error: URL_TOO_LONG, abort: true })
  .check(z.url({ protocol: /^https?$/, error: 'must be a URL that begins with http or https', abort: true }))
  // Everyone who may read the task or its deliveries would see it.
  .refine((url) => !/^\w+:\/\/[^/?#]*@/.test(url), { error: 'must not contain a user name or password' });

function hasAtMost(value: string, most: number): boolean {
  if (value.length <= most) return true;
  if (value.length > 2 * most) return false;
  let count = 0;
  for (const _ of value) count += 1;
  return count <= most;
}
