import type { Kysely, Transaction } from 'kysely';
import type { Verifier } from './auth/identity.js';
import type { Configuration } from './configuration.js';
import type { Schema } from './database/schema.js';
import type { Engines } from './generation/engine.js';
import type { Lookup } from './generation/fetch-image.js';
import type { Queue } from './queue/queue.js';
import type { Storage } from './storage/storage.js';

export type Database = Kysely<Schema>;
export type Tx = Transaction<Schema>;

/** What every part of a running service may use; made once by serve.ts. */
export interface Context {
  readonly configuration: Configuration;
  readonly database: Database;
  readonly storage: Storage;
  readonly queue: Queue;
  readonly engines: Engines;
  /** A folder of this process alone for files that are not worth keeping; empty at the start. */
  readonly scratch: string;
  /** The service's own keys, loaded at start. */
  readonly keys: Keys;
  /** One for each issuer whose tokens are accepted. */
  readonly verifiers: readonly Verifier[];
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Where clients reach the service, without a trailing slash; known once it listens. */
  readonly baseUrl: () => string;
  /** Resolves the names of webhooks' hosts; the system's own where absent. */
  readonly lookup?: Lookup | undefined;
  readonly log: (level: 'warn' | 'error', message: string, fields?: Record<string, unknown>) => void;
}

export interface SigningKey {
  readonly kid: string;
  /** Ed25519, private. */
  readonly jwk: Record<string, unknown>;
  /** When it is honoured no longer, milliseconds since the epoch; absent of the one that signs. */
  readonly retiredAt?: number;
}

export interface Keys {
  /** HMAC key of signed URLs. */
  readonly url: Buffer;
  /** One signs, all verify until they are retired; another list once a new one is made. */
  token: readonly SigningKey[];
  /** The embedded owner's bearer token; absent where no data folder holds one. */
  readonly owner?: string;
}
