import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import { getOperation, listTaskOperations } from '../../contract/index.js';
import { isRecord, parseJson } from '../../contract/json.js';
import { checkValue } from '../../contract/schema/check.js';
import type { Problem } from '../../contract/schema/schema-types.js';
import { findNearest } from '../../wire/nearest.js';
import { SecureUrl } from '../network/secure-url.js';
import { formatPath } from './start-errors.js';
import { vendorNames } from './vendor-names.js';
import comfyMagnific from './vendors/comfy-magnific.json' with { type: 'json' };
import comfyVidu from './vendors/comfy-vidu.json' with { type: 'json' };
import fal from './vendors/fal.json' with { type: 'json' };
import freepik from './vendors/freepik.json' with { type: 'json' };
import magnific from './vendors/magnific.json' with { type: 'json' };
import openai from './vendors/openai.json' with { type: 'json' };
import regen from './vendors/regen.json' with { type: 'json' };
import replicate from './vendors/replicate.json' with { type: 'json' };
import vidu from './vendors/vidu.json' with { type: 'json' };

export const vendorProfiles: Readonly<Record<(typeof vendorNames)[number], object>> = {
  ...{ regen, magnific, freepik, vidu, fal, replicate, openai },
  ...{ 'comfy-magnific': comfyMagnific, 'comfy-vidu': comfyVidu },
};

const Name = z.string().min(1).max(200);
const Path = z.string().regex(/^\/[^\s{}]*(\{(id|since)\}[^\s{}]*)*$/, {
  error: 'must be a path, in which only {id} and {since} stand for something',
});
const Pointer = z.string().regex(/^(\/[^/]*)*$/, { error: 'must be a JSON Pointer, such as /data/status' });
/** The first that leads to something counts. */
const Pointers = z.array(Pointer).min(1);
const Values = z.record(
  Name,
  z.record(Name, z.union([z.string().min(1), z.number()], { error: 'must be a text or a number' })),
);

const TaskForm = z.strictObject({
  isAnswer: z
    .boolean()
    .default(false)
    .describe('The answer to a start has the results; there is no task to look at'),
  id: Pointers.optional().describe('The id of a task in the answer to its start'),
  read: Path.optional().describe('The path of its status'),
  state: Pointers.optional().describe('Its state; one that is neither done nor failed means that it runs'),
  done: z.array(Name).min(1).optional(),
  failed: z.array(Name).optional(),
  code: Pointers.optional().describe('Why it failed, for programs'),
  credits: Pointer.optional().describe('What the vendor charged for it'),
  files: z.strictObject({
    each: Pointers.describe('The list of results, or the only one'),
    url: Pointers.default([]).describe('The URL of one'),
    base64: Pointers.optional().describe('Its bytes, if it has no URL'),
    marked: Pointers.optional().describe('The URL of its copy with a watermark'),
    cover: Pointers.optional().describe('The URL of the cover image of a video'),
    id: Pointers.optional().describe("The vendor's id of a video"),
  }),
});

const ErrorForm = z.strictObject({
  code: Pointers.default([]).describe('What programs read in an error'),
  message: Pointers.default(['/message', '/error/message', '/detail', '/reason', '/error']),
  fields: z
    .strictObject({ each: Pointers, name: Pointer, reason: Pointer })
    .optional()
    .describe('The fields that an error is about'),
  later: z.array(Name).default([]).describe('Codes after which the same request may succeed'),
  account: z.array(Name).default([]).describe("Codes of trouble with the operator's account"),
  moderated: z.array(Name).default([]).describe('Codes of refused content'),
});

const Route = z.strictObject({
  when: z
    .array(Name)
    .default([])
    .describe('Fields that a request must have for this route; images.1 is the second'),
  post: Path,
  read: Path.optional(),
  result: Path.optional().describe('Where the results of a task are that is done, if not in its status'),
  cancel: Path.optional(),
  images: z.enum(['base64', 'dataUrl']).optional(),
  fields: z.array(Name).optional().describe('The fields that are sent; absent: all'),
  body: z
    .json()
    .optional()
    .describe('The form of the request, if fields have other names or places: {image} stands for a field'),
  values: Values.optional(),
  set: z.record(Name, z.json()).default({}).describe('Fields with a fixed value'),
  callback: Name.optional(),
});

const Limits = z.strictObject({
  atOnce: z.int().min(1).optional().describe('Tasks that run in parallel'),
  requestsPerMinute: z.int().min(1).optional().describe('Tasks are looked at as rarely as this needs'),
  imageTypes: z
    .array(z.enum(['png', 'jpeg', 'webp', 'gif', 'avif', 'tiff']))
    .min(1)
    .optional()
    .describe('The types of images that it reads; absent: all'),
  imageBytes: z.int().min(1).optional().describe('Of one image within a request, before it is Base64'),
  requestBytes: z.int().min(1).optional().describe('Of a request with its images'),
  urlBytes: z
    .int()
    .min(1)
    .optional()
    .describe('Of an image that it fetches from a URL; absent: it fetches none'),
  sideRatio: z
    .number()
    .gt(1)
    .optional()
    .describe('The longer side of an image is less than this times the other'),
  likeness: z
    .number()
    .gt(1)
    .optional()
    .describe('The ratios of the sides of two images differ by this factor at most'),
});

const ProfileFields = z.strictObject({
  $schema: z.string().optional(),
  baseUrl: SecureUrl.optional(),
  headers: z.record(Name, z.string()).describe('Sent with each request; {key} is the key'),
  start: z
    .record(Name, z.string())
    .default({})
    .describe('Headers of a start; {id} is the id of the task here'),
  images: z.enum(['base64', 'dataUrl']).default('base64').describe('The form of images'),
  values: Values.default({}).describe("The vendor's names of the values of a field; others are refused"),
  operations: z
    .record(Name, z.array(Route).min(1))
    .describe('The routes of each operation; the first that fits is taken'),
  ownCreationsOnly: z
    .boolean()
    .default(false)
    .describe('Videos that others made are extended by their URL only'),
  callback: Name.optional().describe('The field for the URL at which the vendor may call'),
  marker: z
    .strictObject({ field: Name, list: Path, each: Pointer, value: Pointer, id: Pointer })
    .optional()
    .describe('A field that the vendor returns in its list of tasks, so that a lost start is found again'),
  task: TaskForm,
  cancel: z
    .strictObject({
      method: z.enum(['POST', 'PUT', 'DELETE']).default('POST'),
      path: Path.optional().describe('If routes have none of their own'),
      body: z.json().optional(),
      refunds: z.boolean().default(true).describe('Whether the vendor charges nothing for a cancelled task'),
    })
    .optional()
    .describe('How a task is cancelled'),
  errors: ErrorForm.prefault({}),
  limits: Limits.prefault({}),
});

/** How a vendor is spoken to, as data: what a profile does not list is not sent. */
export const VendorProfile = ProfileFields.superRefine(({ operations, task }, { addIssue }) => {
  for (const field of ['id', 'state', 'done', 'failed'] as const)
    if (!task.isAnswer && !task[field])
      addIssue({ code: 'custom', path: ['task', field], message: 'is required' });
  for (const [name, routes] of Object.entries(operations)) {
    const options = listOptions(name);
    const report = (path: readonly (string | number)[], message: string) =>
      addIssue({ code: 'custom', path: ['operations', name, ...path], message });
    if (!options) {
      report([], `is not an operation; they are ${listTaskOperations().join(', ')}`);
      continue;
    }
    for (const [at, { when, fields = [], body, values = {} }] of routes.entries()) {
      const named = {
        when: when.map((field) => field.split('.')[0] as string),
        fields,
        values: Object.keys(values),
        body: listPlaceholders(body),
      };
      for (const [field, names] of Object.entries(named)) {
        const unknown = names.filter((option) => !options.includes(option));
        if (unknown.length > 0)
          report([at, field], `must not name what is no option of ${name}: ${unknown.join(', ')}`);
      }
    }
  }
});

const PLACEHOLDER = /\{(\w+)(?:\.\d+)?\}/g;

/** Lists the fields that stand in the form of a request. */
export function listPlaceholders(body: unknown): string[] {
  return [...(JSON.stringify(body) ?? '').matchAll(PLACEHOLDER)].map(([, name]) => name as string);
}

/** @returns undefined if there is no such operation */
function listOptions(name: string): string[] | undefined {
  const operation = listTaskOperations().find((known) => known === name);
  const body = operation && getOperation(operation).body;
  return body instanceof z.ZodObject ? Object.keys(body.shape) : undefined;
}

export type VendorProfile = z.output<typeof VendorProfile>;
export type VendorRoute = z.output<typeof Route>;
export type VendorTaskForm = z.output<typeof TaskForm>;
export type VendorErrorForm = z.output<typeof ErrorForm>;
export type VendorLimits = z.output<typeof Limits>;

type Loaded = { readonly profile: VendorProfile } | { readonly problems: readonly Problem[] };

const loaded = new Map<string, Loaded>();

/**
 * Loads a profile by its name, or from a JSON file. One that `extends` another replaces the fields that it names.
 * @param name a file if it has a slash
 */
export function loadVendorProfile(name: string): Loaded {
  const known = loaded.get(name);
  if (known) return known;
  const value = readProfile(name, new Set());
  const checked = 'problems' in value ? undefined : checkValue(VendorProfile, value.json);
  const result: Loaded =
    'problems' in value
      ? value
      : checked?.ok
        ? { profile: checked.value }
        : {
            problems: (checked?.problems ?? []).map((one) => ({
              ...one,
              about: `${name}, ${formatPath(one.path)}`,
            })),
          };
  if (!name.includes('/')) loaded.set(name, result);
  return result;
}

function readProfile(
  name: string,
  seen: Set<string>,
): { readonly json: unknown } | { readonly problems: readonly Problem[] } {
  const fail = (message: string, about?: string) => ({
    problems: [{ path: [], message, ...(about !== undefined && { about }) }],
  });
  if (seen.has(name)) return fail(`extends itself through ${name}`);
  const isNamed = seen.size === 0;
  seen.add(name);
  const [, standard] = Object.entries(vendorProfiles).find(([known]) => known === name) ?? [];
  const own = name.includes('/') ? readFile(name) : standard;
  if (typeof own === 'string') return fail(own, name);
  if (own === undefined) {
    const near = findNearest(name.slice(0, 100), vendorNames);
    const must = isNamed ? 'must be' : `extends ${name}, which is not`;
    return fail(
      `${must} one of ${vendorNames.join(', ')}, or the path of a JSON file, such as ./mine.json${near ? ` (did you mean ${near}?)` : ''}`,
    );
  }
  if (!isRecord(own) || typeof own.extends !== 'string') return { json: own };
  const { extends: base, ...fields } = own;
  const inherited = readProfile(
    String(base).startsWith('.') ? resolve(dirname(name), String(base)) : String(base),
    seen,
  );
  if ('problems' in inherited) return inherited;
  // Null takes away what the other profile has.
  const given = Object.entries({ ...(inherited.json as object), ...fields });
  return { json: Object.fromEntries(given.filter(([, value]) => value !== null)) };
}

/** @returns the content of a JSON file; a text says why there is none */
function readFile(path: string): unknown {
  try {
    const value = parseJson(readFileSync(path, 'utf8'));
    return isRecord(value) ? value : 'is not an object in JSON';
  } catch (error) {
    return `cannot be read (${(error as NodeJS.ErrnoException).code})`;
  }
}
