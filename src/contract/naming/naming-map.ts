// Not derived from the schema of parse-naming.ts: users of the library have no types of zod.

/** Words of the contract with those of the other service. */
export type Words = Readonly<Record<string, string>>;

/** A path of the other service that no renamed segment explains. Both are `METHOD /path`. */
export interface Rewrite {
  readonly regen: string;
  readonly real: string;
  /** A client uses it only with one of these query parameters; never, if there are none. */
  readonly with?: readonly string[] | undefined;
  /** What a service adds to the request. A client does not use a rewrite that has this, or `answer`. */
  readonly query?: Words | undefined;
  readonly body?: Words | undefined;
  /** The field of the answer that is the whole answer there. */
  readonly answer?: string | undefined;
}

/** What the other service does differently, apart from its names. */
export interface Behaviors {
  /** Publishing needs only the personal access token in the body. */
  readonly publishWithoutBearer?: boolean | undefined;
  /** A header whose value counts as a bearer token, in lower case. */
  readonly apiKeyHeader?: string | undefined;
  /** `1.2` is published as `1.2.0`. */
  readonly completeVersions?: boolean | undefined;
  /** A video is extended by its creation id or its URL alone. */
  readonly extendWithEither?: boolean | undefined;
  /** Fields that its clients may leave out of the body of an operation, with what that means. */
  readonly assumedFields?: Readonly<Record<string, Readonly<Record<string, boolean>>>> | undefined;
  /** Fields of the body of an operation that change nothing. */
  readonly ignoredFields?: Readonly<Record<string, readonly string[]>> | undefined;
  /** Fields that its answers never leave out, in the contract's names, with the value that stands for nothing. */
  readonly alwaysSent?: Readonly<Record<string, '' | readonly []>> | undefined;
  /** Operations whose answer is wrapped in a field, which the contract's is not. */
  readonly wrappedAnswers?: Words | undefined;
  /** Fields that may have values that the contract does not list. */
  readonly openValues?: readonly string[] | undefined;
  /** Query parameters of its clients that change nothing. */
  readonly ignoredQuery?: readonly string[] | undefined;
  /** Query parameters that a client adds, by operation. */
  readonly addedQuery?: Readonly<Record<string, Words>> | undefined;
}

/** The names of another service for the words of the contract. Everything is optional; `{}` is the identity. */
export interface NamingMap {
  readonly paths?:
    | {
        readonly segments?: Words | undefined;
        readonly rewrites?: readonly Rewrite[] | undefined;
        /** What a service answers at paths of the other one that mean nothing here: `METHOD /path` with a sentence. */
        readonly unsupported?: Words | undefined;
      }
    | undefined;
  readonly fields?: Words | undefined;
  /** Fields that have another name in one operation only. */
  readonly operations?: Readonly<Record<string, Words>> | undefined;
  readonly query?: Words | undefined;
  readonly values?: Readonly<Record<string, Words>> | undefined;
  /** Fields whose keys are values. */
  readonly valueKeyed?: readonly string[] | undefined;
  /** Fields in which nothing is renamed. */
  readonly opaque?: readonly string[] | undefined;
  readonly errors?:
    | {
        readonly meaningFromText?:
          | readonly {
              readonly status: number | readonly number[];
              readonly contains: string;
              readonly code: string;
            }[]
          | undefined;
      }
    | undefined;
  readonly behaviors?: Behaviors | undefined;
}
