import { z } from 'zod';
import { errorCodes } from '../error-codes.js';

const word = z.string().min(1).max(200);
const words = z.record(word, word);
/** Free text for readers of a file. */
const notes = z.unknown().optional();

const request = z.string().regex(/^(GET|POST|PUT|DELETE) \/\S*$/, { error: 'must be like GET /nodes' });

/** A path of the other service that no renamed segment explains. Both are `METHOD /path`. */
const RewriteEntry = z.strictObject({
  about: notes,
  regen: request,
  real: request,
  /** A client uses it only with one of these query parameters; never, if there are none. */
  with: z.array(word).optional(),
  /** What a service adds to the request. A client does not use a rewrite that has this, or `answer`. */
  query: words.optional(),
  body: words.optional(),
  /** The field of the answer that is the whole answer there. */
  answer: word.optional(),
});

/** What the other service does differently, apart from its names. */
const BehaviorMap = z.strictObject({
  /** Publishing needs only the personal access token in the body. */
  publishWithoutBearer: z.boolean().optional(),
  /** A header whose value counts as a bearer token, in lower case. */
  apiKeyHeader: z
    .string()
    .regex(/^[a-z0-9-]+$/, { error: 'must be the name of a header in lower case' })
    .optional(),
  /** `1.2` is published as `1.2.0`. */
  completeVersions: z.boolean().optional(),
  /** A video is extended by its creation id or its URL alone. */
  extendWithEither: z.boolean().optional(),
  /** Fields that its clients may leave out of the body of an operation, with what that means. */
  assumedFields: z.record(word, z.record(word, z.boolean())).optional(),
  /** Fields of the body of an operation that change nothing. */
  ignoredFields: z.record(word, z.array(word)).optional(),
  /** Fields that its answers never leave out, in the contract's names, with the value that stands for nothing. */
  alwaysSent: z.record(word, z.union([z.literal(''), z.tuple([])])).optional(),
  /** Operations whose answer is wrapped in a field, which the contract's is not. */
  wrappedAnswers: words.optional(),
  /** Fields that may have values that the contract does not list. */
  openValues: z.array(word).optional(),
  /** Query parameters of its clients that change nothing. */
  ignoredQuery: z.array(word).optional(),
  /** Query parameters that a client adds, by operation. */
  addedQuery: z.record(word, words).optional(),
});

const Meaning = z.strictObject({
  status: z.union([z.int(), z.array(z.int())]),
  contains: word,
  code: z
    .string()
    .refine((code) => Object.hasOwn(errorCodes, code), { error: 'must be an error code of the contract' }),
});

/** The names of another service for the words of the contract. Everything is optional; `{}` is the identity. */
// `statuses` and `beyondNames` are notes as well: what is the same, and what names cannot express.
export const NamingFile = z.strictObject({
  about: notes,
  version: z.literal(1).optional(),
  paths: z
    .strictObject({
      about: notes,
      segments: words.optional(),
      rewrites: z.array(RewriteEntry).optional(),
      /** What a service answers at paths of the other one that mean nothing here: `METHOD /path` with a sentence. */
      unsupported: z.record(request, z.string().min(1).max(1000)).optional(),
    })
    .optional(),
  fields: words.optional(),
  /** Fields that have another name in one operation only. */
  operations: z.record(word, words).optional(),
  query: words.optional(),
  /** The values of a field. */
  values: z.record(word, words).optional(),
  /** Fields whose keys are values. */
  valueKeyed: z.array(word).optional(),
  /** Fields in which nothing is renamed. */
  opaque: z.array(word).optional(),
  statuses: notes,
  errors: z
    .strictObject({ about: notes, bodies: notes, texts: notes, meaningFromText: z.array(Meaning).optional() })
    .optional(),
  beyondNames: notes,
  behaviors: BehaviorMap.optional(),
});

export type NamingMap = z.output<typeof NamingFile>;
export type Rewrite = z.output<typeof RewriteEntry>;
export type Behaviors = z.output<typeof BehaviorMap>;

/** Words of the contract with those of the other service. */
export type Words = Readonly<Record<string, string>>;
