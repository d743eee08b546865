import { readFileSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { z } from 'zod';
import { SecureUrl } from '../network/secure-url.js';

// Decided: the key itself is never in the configuration, which people share and commit.
const KeySource = z
  .strictObject({
    /** Name of an environment variable. */
    env: z.string().min(1).optional(),
    file: z.string().refine(isAbsolute, { error: 'must be an absolute path' }).optional(),
  })
  .refine(({ env, file }) => (env === undefined) !== (file === undefined), {
    error: 'must name either an environment variable (env) or a file',
  });

const vendorFields = {
  engine: z.literal('upstream'),
  /** Replaces `/proxy/imagevendor` or `/proxy/videovendor` in the contract's paths. */
  baseUrl: SecureUrl,
  /** The header that carries the key; `Authorization` has it as a Bearer token. */
  keyHeader: z
    .string()
    .regex(/^[A-Za-z0-9-]+$/, { error: 'must be a header name' })
    .default('Authorization'),
  key: KeySource,
  /** How many tasks run in parallel. */
  atOnce: z.int().positive().default(50),
  /** The first polling interval of a task; it grows to 15 times as much. Milliseconds. */
  pollMs: z.int().positive().default(2_000),
  /** The timeout of one request to the vendor. Milliseconds. */
  answerMs: z.int().positive().default(60_000),
  /** Whether the vendor honours `Idempotency-Key`; absent: detected from its answers. */
  honoursKeys: z.boolean().optional(),
};

const ImageVendor = z.strictObject(vendorFields);

export const VideoVendor = z.strictObject({
  ...vendorFields,
  /** The vendor's names of the contract's models, if they differ. */
  models: z.record(z.string(), z.string().min(1)).default({}),
});

export type VendorSettings = z.output<typeof ImageVendor> &
  Partial<Pick<z.output<typeof VideoVendor>, 'models'>>;

/**
 * Reads the vendor's key from the place that the configuration names.
 * @throws VendorKeyMissing
 */
export function readVendorKey(
  { key }: VendorSettings,
  env: Readonly<Record<string, string | undefined>>,
): string {
  const place = key.env === undefined ? `the file ${key.file}` : `the environment variable ${key.env}`;
  const text = (key.env === undefined ? readText(key.file as string) : env[key.env])?.trim();
  if (!text) throw new VendorKeyMissing(`names ${place}, which is missing or empty`);
  if (!/^[\x21-\x7e]+$/.test(text))
    throw new VendorKeyMissing(`names ${place}, which does not contain a valid key`);
  return text;
}

/** Why there is no key; the message continues the name of the setting. */
export class VendorKeyMissing extends Error {
  override readonly name = 'VendorKeyMissing';
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

const Local = z.strictObject({ engine: z.literal('local') });

const LocalVideo = z.strictObject({
  ...Local.shape,
  /** Videos made in parallel: one is drawn while another is compressed; each takes up to 300 MB. */
  atOnce: z.int().positive().default(2),
});

const describeUnionError = (issue: { readonly code?: string | undefined }) =>
  issue.code === 'invalid_union' ? "must have the engine 'local' or 'upstream'" : undefined;

/** What generates images and videos: this machine, or a vendor. */
export const GenerationSettings = z.strictObject({
  image: z
    .discriminatedUnion('engine', [Local, ImageVendor], { error: describeUnionError })
    .prefault({ engine: 'local' }),
  video: z
    .discriminatedUnion('engine', [LocalVideo, VideoVendor], { error: describeUnionError })
    .prefault({ engine: 'local' }),
});
