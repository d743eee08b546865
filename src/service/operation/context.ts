import { isLoopbackHost } from '../../contract/schema/loopback.js';
import type { PackReader } from '../../python/reader-process.js';
import type { Lookup } from '../../wire/checked-lookup.js';
import type { Compatibility } from '../configuration/compatibility.js';
import { type Configuration, isExposed } from '../configuration/configuration.js';
import type { Count, Log } from '../configuration/log.js';
import type { Database } from '../database/database.js';
import type { OwnOrigin } from '../network/guarded-agent.js';
import type { FairQueue } from '../queue/fair-queue.js';
import type { Queue } from '../queue/queue.js';
import type { Storage } from '../storage/storage.js';
import type { DiskSpace } from './disk-space.js';
import type { Engines } from './engine.js';
import type { CiVerifier, Keys, Verifier } from './identity.js';
import type { ImageInspector } from './image-inspector.js';
import type { Reservations } from './reservations.js';

/** An installation that was answered. */
export interface Install {
  readonly nodeId: string;
  readonly versionId: string;
  readonly address: string;
}

/** The parts of a running service; created once by serve.ts. */
export interface Context {
  readonly configuration: Configuration;
  readonly compatibility: Compatibility;
  readonly database: Database;
  readonly storage: Storage;
  readonly queue: Queue;
  readonly installs: {
    count(install: Install): void;
    /** Writes what was counted. */
    write(): Promise<void>;
  };
  readonly engines: Engines;
  /** Read uploaded packs, each in a process apart; closed when the service stops. */
  readonly packReaders: { readonly quick: PackReader; readonly thorough: PackReader };
  /** Decodes the images of requests, in processes apart; closed when the service stops. */
  readonly inspector: ImageInspector;
  /** What users have begun, which counts for their quotas. */
  readonly reservations: Reservations;
  readonly disk: DiskSpace;
  /** The preparations of tasks: a few of each user at once, because each holds a connection and files. */
  readonly preparations: FairQueue;
  /** A folder for temporary files of this process; emptied at start. */
  readonly scratch: string;
  /** The service's own keys, loaded at start. */
  readonly keys: Keys;
  /** One for each issuer whose tokens are accepted. */
  readonly verifiers: readonly Verifier[];
  readonly verifyJob: CiVerifier;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Where clients reach the service, without a trailing slash; known once it listens. */
  readonly baseUrl: () => string;
  /** Whether commands on this machine find it without its address. */
  readonly isEmbedded: boolean;
  /** Resolves the host names of webhooks. Default: the system's resolver. */
  readonly lookup?: Lookup | undefined;
  readonly log: Log;
  /** Does nothing unless metrics are configured. */
  readonly count: Count;
}

/** Without a public URL, a service on all addresses or behind a proxy has one on loopback, but users elsewhere. */
export function getOwnOrigin(
  { configuration, baseUrl }: Pick<Context, 'configuration' | 'baseUrl'>,
  use?: 'webhooks' | 'inputs',
): OwnOrigin {
  const serviceOrigin = baseUrl();
  const loopbackAllowed = !isExposed(configuration) && isLoopbackHost(new URL(serviceOrigin).hostname);
  return { serviceOrigin, loopbackAllowed, allowedNetworks: use && configuration[use].allowedNetworks };
}
