import { statSync } from 'node:fs';
import { z } from 'zod';
import type { Problem } from '../../contract/schema/schema-types.js';
import { positiveInt } from '../../contract/schema/values.js';
import { SecureUrl } from '../network/secure-url.js';
import { measure } from './measure.js';
import { checkSecret, createSecretSource, type Environment } from './secret-source.js';
import { loadVendorProfile, vendorNames } from './vendor-profile.js';

const vendorFields = {
  engine: z
    .literal('upstream')
    .meta({ examples: ['upstream'] })
    .describe('upstream: a vendor'),
  vendor: z
    .string()
    .min(1)
    .default('regen')
    .describe(
      `Profile of the vendor: ${vendorNames.join(', ')}, or the path of a JSON file, such as ./mine.json; regen is a service with the same contract`,
    ),
  baseUrl: SecureUrl.optional()
    .meta({ examples: ['https://api.example.com'] })
    .describe(
      "Replaces the profile's; for regen it stands for /proxy/imagevendor or /proxy/videovendor in the paths of the contract",
    ),
  keyHeader: z
    .string()
    .regex(/^[A-Za-z0-9-]+$/, { error: 'must be a header name' })
    .optional()
    .meta({ examples: ['x-api-key'] })
    .describe(
      "The header that carries the key, in place of the profile's; Authorization has it as a Bearer token",
    ),
  key: createSecretSource('the key of the vendor', 'VENDOR_KEY'),
  atOnce: z
    .int()
    .min(1)
    .optional()
    .meta({ examples: [10] })
    .describe("Tasks of a vendor that run in parallel. Default: the profile's, or 50"),
  pollMs: measure('milliseconds', z.int().positive())
    .default(2_000)
    .describe('The first polling interval of a task; it grows to 15 times as much'),
  answerMs: measure('milliseconds', z.int().positive())
    .default(60_000)
    .describe('How long one request to the vendor may take'),
  honoursKeys: z
    .boolean()
    .optional()
    .meta({ examples: [true] })
    .describe('Whether the vendor honours Idempotency-Key; by default detected from its answers'),
};

const ImageVendor = z.strictObject(vendorFields);

const VIDEOS_AT_ONCE =
  "How many videos run in parallel. On this machine: 2 by default, with up to 300 MB of memory each. Of a vendor: by default the profile's number, or 50";

export const VideoVendor = z.strictObject({
  ...vendorFields,
  atOnce: vendorFields.atOnce.describe(VIDEOS_AT_ONCE),
  models: z
    .record(z.string(), z.string().min(1))
    .default({})
    .describe("The vendor's names of the models of the contract, where they differ"),
});

export type VendorSettings = z.output<typeof ImageVendor> &
  Partial<Pick<z.output<typeof VideoVendor>, 'models'>>;

/** Lists what is wrong with the profiles of vendors and their keys. */
export function checkVendors(settings: GenerationSettings, env: Environment): Problem[] {
  const { image, video, record, replay } = settings;
  const path = ['generation', 'replay'];
  if (record !== undefined && replay !== undefined)
    return [{ path, message: 'cannot be combined with generation.record' }];
  if (replay !== undefined && !statSync(replay, { throwIfNoEntry: false })?.isDirectory())
    return [{ path, message: `must be a folder of recordings; ${replay} is none` }];
  return Object.entries({ image, video }).flatMap(([kind, settings]) => {
    if (settings.engine === 'local') return [];
    const path = ['generation', kind];
    return [
      ...checkProfile(settings, kind).map((problem) => ({ ...problem, path: [...path, ...problem.path] })),
      ...(replay === undefined
        ? checkSecret(settings.key, env, { path: [...path, 'key'], what: 'key' })
        : []),
    ];
  });
}

function checkProfile({ vendor, baseUrl }: VendorSettings, kind: string): Problem[] {
  const loaded = loadVendorProfile(vendor);
  if ('problems' in loaded)
    return loaded.problems.map(({ path, message }) => ({ path: ['vendor', ...path], message }));
  const { operations, baseUrl: standard } = loaded.profile;
  const names = Object.keys(operations);
  const problem = (path: string, message: string) => [{ path: [path], message }];
  if (!names.some((name) => name.startsWith(`${kind}.`)))
    return problem('vendor', `is ${vendor}, which makes no ${kind}s`);
  return (baseUrl ?? standard) === undefined ? problem('baseUrl', 'is required') : [];
}

const Local = z.strictObject({
  engine: z
    .literal('local')
    .meta({ examples: ['local'] })
    .describe('local: previews made on this machine'),
});

const LocalVideo = z.strictObject({
  ...Local.shape,
  atOnce: positiveInt(2, VIDEOS_AT_ONCE),
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
  record: z
    .string()
    .min(1)
    .optional()
    .meta({ examples: ['cassettes/'] })
    .describe(
      'The folder in which results are kept by their requests, to be replayed; relative to the configuration file',
    ),
  replay: z
    .string()
    .min(1)
    .optional()
    .meta({ examples: ['cassettes/'] })
    .describe(
      'The folder of recorded results with which tasks are answered; nothing else is generated, and no key is needed',
    ),
});

export type GenerationSettings = z.output<typeof GenerationSettings>;
