import { statSync } from 'node:fs';
import { z } from 'zod';
import { getTaskFacts, listTaskOperations, type TaskOperation } from '../../contract/index.js';
import { isRecord } from '../../contract/json.js';
import type { Problem } from '../../contract/schema/schema-types.js';
import { positiveInt } from '../../contract/schema/values.js';
import { findNearest } from '../../wire/nearest.js';
import { EngineUrl } from '../network/secure-url.js';
import { measure } from './measure.js';
import { checkSecret, createSecretSource, type Environment } from './secret-source.js';
import { vendorNames } from './vendor-names.js';

const ANSWER_MS = 60_000;
const pollMs = measure('milliseconds', z.int().positive(), { example: '2s' });
const POLLING =
  'The first polling interval of a task, which grows to 15 times as much. Default: 2s, and 500ms for comfyui';

const requestFields = {
  pollMs: pollMs.default(2_000).describe(POLLING),
  answerMs: measure('milliseconds', z.int().positive(), { default: ANSWER_MS })
    .default(ANSWER_MS)
    .describe('How long one request to the vendor or to ComfyUI may take'),
};

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
  baseUrl: EngineUrl.optional()
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
  ...requestFields,
  honoursKeys: z
    .boolean()
    .optional()
    .meta({ examples: [true] })
    .describe('Whether the vendor supports Idempotency-Key; by default detected from its answers'),
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

const ComfyUi = z.strictObject({
  engine: z
    .literal('comfyui')
    .meta({ examples: ['comfyui'] })
    .describe('comfyui: a ComfyUI server'),
  baseUrl: EngineUrl.meta({ examples: ['http://127.0.0.1:8188'] }).describe(
    'for comfyui, where it listens, such as http://127.0.0.1:8188',
  ),
  workflows: z
    .string()
    .min(1)
    .meta({ examples: ['./workflows'] })
    .describe(
      'For comfyui, the folder of its workflows in the API format, one per operation, such as image.upscaler.json; relative to the configuration file',
    ),
  atOnce: positiveInt(2, 'of ComfyUI: how many wait or run there, 2 by default'),
  ...requestFields,
  pollMs: pollMs.default(500).describe(POLLING),
});

export type ComfyUiSettings = z.output<typeof ComfyUi>;

/** The profiles of vendors that need no file, by their names. */
export async function loadVendorProfiles(): Promise<Readonly<Record<string, object>>> {
  return (await import('./vendor-profile.js')).vendorProfiles;
}

/** Lists what is wrong with the profiles of vendors, their keys, and the workflows of ComfyUI. */
export async function checkEngines(generation: GenerationSettings, env: Environment): Promise<Problem[]> {
  const { record, replay } = generation;
  const path = ['generation', 'replay'];
  if (record !== undefined && replay !== undefined)
    return [{ path, message: 'cannot be combined with generation.record' }];
  if (replay !== undefined && !statSync(replay, { throwIfNoEntry: false })?.isDirectory())
    return [{ path, about: replay, message: 'is not a folder of recordings' }];
  const engines = [generation.image, generation.video, ...Object.values(generation.operation)];
  if (record !== undefined && engines.every(({ engine }) => engine === 'local')) {
    const message = 'needs an engine of images or videos other than local, because previews are not recorded';
    return [{ path: ['generation', 'record'], message }];
  }
  const kinds = (['image', 'video'] as const).map((kind) => {
    const settings: EngineSettings = generation[kind];
    const operations = listTaskOperations(kind).filter((name) => !generation.operation[name]);
    return { settings, path: [kind], operations };
  });
  const own = Object.entries(generation.operation).map(([name, settings]) => {
    const operation = name as TaskOperation;
    return { settings, path: ['operation', operation], operations: [operation] };
  });
  const checks = [...kinds, ...own].map(async ({ settings, path, operations }) => {
    const problems = await checkEngine(settings, operations, replay === undefined ? env : undefined);
    return problems.map((problem) => ({ ...problem, path: ['generation', ...path, ...problem.path] }));
  });
  return (await Promise.all(checks)).flat();
}

/** What reads workflows and profiles is loaded only for who has one. */
async function checkEngine(
  settings: EngineSettings,
  operations: readonly TaskOperation[],
  env: Environment | undefined,
): Promise<Problem[]> {
  if (settings.engine === 'local') return [];
  if (settings.engine === 'comfyui') {
    const { loadWorkflows } = await import('./workflows.js');
    const { problems } = loadWorkflows(settings.workflows, operations);
    return problems.map((problem) => ({ ...problem, path: ['workflows', ...problem.path] }));
  }
  return [
    ...(await checkProfile(settings, operations)),
    ...(env ? checkSecret(settings.key, env, { path: ['key'], what: 'key' }) : []),
  ];
}

async function checkProfile(
  { vendor, baseUrl, models = {} }: VendorSettings,
  makes: readonly TaskOperation[],
): Promise<Problem[]> {
  const { loadVendorProfile } = await import('./vendor-profile.js');
  const loaded = loadVendorProfile(vendor);
  if ('problems' in loaded)
    return loaded.problems.map((problem) => ({ ...problem, path: ['vendor', ...problem.path] }));
  const { operations, baseUrl: standard } = loaded.profile;
  const names = Object.keys(operations);
  const problem = (path: string, message: string) => [{ path: [path], message }];
  if (!makes.some((name) => names.includes(name))) {
    const [first] = makes;
    const what = makes.length === 1 ? first : `${first && getTaskFacts(first).kind}s`;
    return problem('vendor', `is ${vendor}, which makes no ${what}`);
  }
  if (Object.keys(models).length > 0 && !makes.some((name) => getTaskFacts(name).defaultModel))
    return problem('models', 'are only for videos');
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

const ENGINES = ['local', 'upstream', 'comfyui'];

/** Explains an engine that is missing or does not exist, with the one that the other settings are for. */
function describeUnionError({
  code,
  input,
}: {
  readonly code?: string | undefined;
  readonly input?: unknown;
}) {
  if (code !== 'invalid_union') return undefined;
  const { engine, vendor, key, workflows } = isRecord(input) ? input : {};
  const name = String(engine).slice(0, 100);
  if (vendorNames.some((known) => known === engine)) return `must be "upstream", with vendor = "${name}"`;
  const near = findNearest(name, ENGINES);
  if (engine !== undefined)
    return `must be local, upstream or comfyui${near ? ` (did you mean ${near}?)` : ''}`;
  if (workflows !== undefined) return 'is missing; for ComfyUI: engine = "comfyui"';
  if (vendor ?? key) return 'is missing; for a vendor: engine = "upstream"';
  return 'is missing: "upstream" for a vendor, "comfyui" or "local"';
}

/** What generates images and videos: this machine, a vendor, or ComfyUI. */
export const GenerationSettings = z.strictObject({
  image: z
    .discriminatedUnion('engine', [Local, ImageVendor, ComfyUi], { error: describeUnionError })
    .prefault({ engine: 'local' }),
  video: z
    .discriminatedUnion('engine', [LocalVideo, VideoVendor, ComfyUi], { error: describeUnionError })
    .prefault({ engine: 'local' }),
  operation: z
    .partialRecord(
      z.enum(listTaskOperations()),
      z.discriminatedUnion('engine', [Local, VideoVendor, ComfyUi], { error: describeUnionError }),
    )
    .default({})
    .describe(
      'Engines of single operations, in place of the one of their kind: generation.operation."image.upscaler".engine',
    ),
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
export type EngineSettings = GenerationSettings['image' | 'video'] | OwnEngineSettings;
type OwnEngineSettings = NonNullable<GenerationSettings['operation'][TaskOperation]>;
