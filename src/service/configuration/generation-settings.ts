import { z } from 'zod';
import type { Problem } from '../../contract/schema/schema-types.js';
import { positiveInt } from '../../contract/schema/values.js';
import { SecureUrl } from '../network/secure-url.js';
import { checkSecret, createSecretSource, type Environment } from './secret-source.js';

const vendorFields = {
  engine: z.literal('upstream').describe('upstream: a vendor'),
  baseUrl: SecureUrl.describe(
    'Replaces /proxy/imagevendor or /proxy/videovendor in the paths of the contract',
  ),

  keyHeader: z
    .string()
    .regex(/^[A-Za-z0-9-]+$/, { error: 'must be a header name' })
    .default('Authorization')
    .describe('The header that carries the key; Authorization has it as a Bearer token'),
  key: createSecretSource('the key of the vendor'),
  atOnce: positiveInt(50, 'Tasks of a vendor that run in parallel (default 50)'),
  pollMs: positiveInt(
    2_000,
    'Milliseconds of the first polling interval of a task; it grows to 15 times as much',
  ),
  answerMs: positiveInt(60_000, 'Milliseconds that one request to the vendor may take'),
  honoursKeys: z
    .boolean()
    .optional()
    .describe('Whether the vendor honours Idempotency-Key; by default detected from its answers'),
};

const ImageVendor = z.strictObject(vendorFields);

export const VideoVendor = z.strictObject({
  ...vendorFields,
  models: z
    .record(z.string(), z.string().min(1))
    .default({})
    .describe("The vendor's names of the models of the contract, where they differ"),
});

export type VendorSettings = z.output<typeof ImageVendor> &
  Partial<Pick<z.output<typeof VideoVendor>, 'models'>>;

/** Lists the vendors whose keys are missing or malformed. */
export function checkVendorKeys({ image, video }: GenerationSettings, env: Environment): Problem[] {
  return Object.entries({ image, video }).flatMap(([kind, settings]) =>
    settings.engine === 'local'
      ? []
      : checkSecret(settings.key, env, { path: ['generation', kind, 'key'], what: 'key' }),
  );
}

const Local = z.strictObject({
  engine: z.literal('local').describe('local: previews made on this machine'),
});

const LocalVideo = z.strictObject({
  ...Local.shape,
  atOnce: positiveInt(
    2,
    'Videos that this machine makes in parallel (default 2): one is drawn while another is compressed; each takes up to 300 MB',
  ),
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

export type GenerationSettings = z.output<typeof GenerationSettings>;
