import { readFileSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { z } from 'zod';
import type { Problem } from '../../contract/schema/schema-types.js';
import { SecureUrl } from '../network/secure-url.js';

// Decided: the key itself is never in the configuration, which people share and commit.
const KeySource = z
  .strictObject({
    env: z.string().min(1).optional().describe('The environment variable with the key of the vendor'),
    file: z
      .string()
      .refine(isAbsolute, { error: 'must be an absolute path' })
      .optional()
      .describe('The file with the key of the vendor, as an absolute path'),
  })
  .refine(({ env, file }) => (env === undefined) !== (file === undefined), {
    error: 'must name either an environment variable (env) or a file',
  });

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
  key: KeySource,
  atOnce: z.int().positive().default(50).describe('Tasks of a vendor that run in parallel (default 50)'),
  pollMs: z
    .int()
    .positive()
    .default(2_000)
    .describe('Milliseconds of the first polling interval of a task; it grows to 15 times as much'),
  answerMs: z
    .int()
    .positive()
    .default(60_000)
    .describe('Milliseconds that one request to the vendor may take'),
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

type Environment = Readonly<Record<string, string | undefined>>;

/** Reads the vendor's key from the place that the configuration names; its existence is checked at start. */
export function readVendorKey({ key }: VendorSettings, env: Environment): string {
  return (key.env === undefined ? readText(key.file as string) : env[key.env])?.trim() ?? '';
}

/** Lists the vendors whose keys are missing or malformed. */
export function checkVendorKeys({ image, video }: GenerationSettings, env: Environment): Problem[] {
  return Object.entries({ image, video }).flatMap(([kind, settings]) => {
    if (settings.engine === 'local') return [];
    const key = readVendorKey(settings, env);
    if (/^[\x21-\x7e]+$/.test(key)) return [];
    const { env: variable, file } = settings.key;
    const place = variable === undefined ? `the file ${file}` : `the environment variable ${variable}`;
    const fault = key === '' ? 'is missing or empty' : 'does not contain a valid key';
    return [{ path: ['generation', kind, 'key'], message: `names ${place}, which ${fault}` }];
  });
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

const Local = z.strictObject({
  engine: z.literal('local').describe('local: previews made on this machine'),
});

const LocalVideo = z.strictObject({
  ...Local.shape,
  atOnce: z
    .int()
    .positive()
    .default(2)
    .describe(
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
