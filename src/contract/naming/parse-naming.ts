import { z } from 'zod';
import { errorCodes } from '../error-codes.js';
import { contract } from '../index.js';
import { listOperations } from '../operation.js';
import { checkValue } from '../schema/check.js';
import { toJsonSchema } from '../schema/json-schema.js';
import type { Problem } from '../schema/schema-types.js';
import { Naming } from './naming.js';
import type { NamingMap, Rewrite } from './naming-map.js';

const word = z.string().min(1).max(200);
const words = z.record(word, word);
/** Free text for readers of a file. */
const notes = z.unknown().optional();

const request = z.string().regex(/^(GET|POST|PUT|DELETE) (\/([\w.~-]+|\{\w+\}))+\/?$/, {
  error: 'must be like GET /nodes/{nodeId}',
});
/** What stands between two slashes of a path. */
const segment = z.string().regex(/^[\w.~-]{1,200}$/, { error: 'must be letters, digits, -, _, . and ~' });

const RewriteEntry = z.strictObject({
  about: notes,
  regen: request,
  real: request,
  with: z.array(word).optional(),
  query: words.optional(),
  body: words.optional(),
  answer: word.optional(),
});

const Behaviors = z.strictObject({
  publishWithoutBearer: z.boolean().optional(),
  apiKeyHeader: z
    .string()
    .regex(/^[a-z0-9-]+$/, { error: 'must be the name of a header in lower case' })
    .optional(),
  completeVersions: z.boolean().optional(),
  extendWithEither: z.boolean().optional(),
  assumedFields: z.record(word, z.record(word, z.boolean())).optional(),
  ignoredFields: z.record(word, z.array(word)).optional(),
  alwaysSent: z.record(word, z.union([z.literal(''), z.tuple([])])).optional(),
  wrappedAnswers: words.optional(),
  openValues: z.array(word).optional(),
  ignoredQuery: z.array(word).optional(),
  addedQuery: z.record(word, words).optional(),
});

const Meaning = z.strictObject({
  status: z.union([z.int(), z.array(z.int())]),
  contains: word,
  code: z
    .string()
    .refine((code) => Object.hasOwn(errorCodes, code), { error: 'must be an error code of the contract' }),
});

// `statuses` and `beyondNames` are notes as well: what is the same, and what names cannot express.
const NamingFile = z.strictObject({
  about: notes,
  version: z.literal(1).optional(),
  paths: z
    .strictObject({
      about: notes,
      segments: z.record(word, segment).optional(),
      rewrites: z.array(RewriteEntry).optional(),
      unsupported: z.record(request, z.string().min(1).max(1000)).optional(),
    })
    .optional(),
  fields: words.optional(),
  operations: z.record(word, words).optional(),
  query: words.optional(),
  values: z.record(word, words).optional(),
  valueKeyed: z.array(word).optional(),
  opaque: z.array(word).optional(),
  statuses: notes,
  errors: z
    .strictObject({ about: notes, bodies: notes, texts: notes, meaningFromText: z.array(Meaning).optional() })
    .optional(),
  beyondNames: notes,
  behaviors: Behaviors.optional(),
});

/** A naming, or everything that is wrong with it. */
export type ParsedNaming =
  | { readonly ok: true; readonly map: NamingMap }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/** Checks the naming of a file against the contract. */
export function parseNaming(value: unknown): ParsedNaming {
  const checked = checkValue(NamingFile, value);
  if (!checked.ok) return checked;
  const problems = findMistakes(checked.value);
  return problems.length > 0 ? { ok: false, problems } : { ok: true, map: checked.value };
}

function findMistakes(map: NamingMap): Problem[] {
  const known = listContractWords();
  const { paths, fields = {}, operations = {}, query = {}, values = {}, behaviors = {} } = map;
  const notKnown = (
    path: readonly string[],
    names: readonly string[],
    among: ReadonlySet<string>,
    what: string,
  ) =>
    names
      .filter((name) => !among.has(name))
      .map((name) => ({ path: [...path, name], message: `is not ${what} of the contract` }));
  return [
    ...notKnown(['paths', 'segments'], Object.keys(paths?.segments ?? {}), known.segments, 'a path segment'),
    ...notKnown(['fields'], Object.keys(fields), known.fields, 'a field'),
    ...notKnown(['query'], Object.keys(query), known.query, 'a query parameter'),
    ...notKnown(['values'], Object.keys(values), known.fields, 'a field'),
    ...notKnown(['operations'], Object.keys(operations), known.operations, 'an operation'),
    ...(['addedQuery', 'assumedFields', 'ignoredFields', 'wrappedAnswers'] as const).flatMap((behavior) =>
      notKnown(
        ['behaviors', behavior],
        Object.keys(behaviors[behavior] ?? {}),
        known.operations,
        'an operation',
      ),
    ),
    ...findRewriteMistakes(map, known.requests),
    ...findDoubles(['paths', 'segments'], paths?.segments ?? {}, known.segments),
    ...findDoubles(['fields'], fields, known.fields),
    ...findDoubles(['query'], query, known.query),
    ...Object.entries(values).flatMap(([field, table]) =>
      findDoubles(['values', field], table, new Set(Object.keys(table))),
    ),
  ];
}

function findRewriteMistakes(map: NamingMap, known: ReadonlySet<string>): Problem[] {
  const listNames = (request: string): string[] => [...(request.match(/\{\w+\}/g) ?? [])];
  // Two paths that differ by the names of their parameters are one.
  const unname = (request: string) => request.replace(/\{\w+\}/g, '{}');
  const naming = new Naming(map);
  const taken = new Set([...known].flatMap((one) => [unname(one), unname(naming.renamePath(one))]));
  return naming.rewrites.flatMap(({ regen, real }, index) => {
    const mistake = (side: keyof Rewrite, message: string) => [
      { path: ['paths', 'rewrites', index, side], message },
    ];
    if (!known.has(regen)) return mistake('regen', 'is not an operation of the contract');
    if (taken.has(unname(real))) return mistake('real', 'is another operation already');
    taken.add(unname(real));
    if (new Set(listNames(real)).size < listNames(real).length)
      return mistake('real', 'must not have a parameter twice');
    const missing = listNames(regen).filter((name) => !listNames(real).includes(name));
    return missing.length > 0 ? mistake('real', `must have ${missing.join(' and ')}`) : [];
  });
}

/** Finds names that could not be turned back: two words with one name, or a name that is another word. */
function findDoubles(
  path: readonly string[],
  table: Readonly<Record<string, string>>,
  taken: ReadonlySet<string>,
): Problem[] {
  const names = Object.values(table);
  return Object.entries(table).flatMap(([ours, theirs]) => {
    if (names.indexOf(theirs) !== names.lastIndexOf(theirs))
      return [{ path: [...path, ours], message: `must not have the name of another word: ${theirs}` }];
    if (theirs !== ours && taken.has(theirs))
      return [
        { path: [...path, ours], message: `must not be ${theirs}, which is another word of the contract` },
      ];
    return [];
  });
}

function listContractWords() {
  const known = {
    segments: new Set<string>(),
    fields: new Set<string>(),
    query: new Set<string>(),
    operations: new Set<string>(),
    requests: new Set(['GET /openapi.json']),
  };
  for (const [name, { method, path, query, body, response }] of listOperations(contract)) {
    known.operations.add(name);
    known.requests.add(`${method} ${path}`);
    for (const segment of path.split('/')) if (!segment.startsWith('{')) known.segments.add(segment);
    for (const one of Object.keys(query?.shape ?? {})) known.query.add(one);
    if (body) addFields(body, 'input', known.fields);
    if (response) addFields(response, 'output', known.fields);
  }
  return known;
}

function addFields(schema: z.ZodType, io: 'input' | 'output', into: Set<string>): void {
  JSON.stringify(toJsonSchema(schema, io), (key, value) => {
    if (key === 'properties') for (const name of Object.keys(value)) into.add(name);
    return value;
  });
}
