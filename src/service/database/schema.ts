import type { Generated, Selectable } from 'kysely';
import type { Fixed, Json, Time } from './column-types.js';
import type {
  HostNodeTable,
  InvitationTable,
  MemberTable,
  NodeTable,
  PersonalAccessTokenTable,
  PublisherTable,
  ReadmeTable,
  TrustTable,
  UplinkVersionTable,
  UsedIdentityTable,
  VersionTable,
} from './registry-tables.js';
import type {
  ApiKeyTable,
  CreditTable,
  TaskTable,
  WebhookDeliveryTable,
  WebhookSecretTable,
} from './task-tables.js';

export interface UserTable {
  id: Fixed<string>;
  /** Issuer and subject of the token. */
  issuer: string | null;
  subject: string | null;
  email: string | null;
  name: string | null;
  /** The most credits of a month, in UTC; null: as the configuration says. */
  credits_per_month: Generated<number | null>;
  created_at: Fixed<Time>;
  /** When the person last used a token of the issuer, to the day. */
  seen_at: Generated<Time | null>;
}

export interface AdminTokenTable {
  jti: Fixed<string>;
  user_id: Fixed<string>;
  created_at: Fixed<Time>;
  expires_at: Fixed<Time>;
}

/** Stored counts, because counting slows down as tables grow. */
export interface TotalTable {
  name: Fixed<string>;
  value: number;
}

/** Append-only: the source of the histories and the audit log. */
export interface EventTable {
  id: Generated<number>;
  at: Fixed<Time>;
  actor: Fixed<string>;
  /** The admin token, personal access token or API key that it was done with; null if it was none, or in older rows. */
  token_id: Fixed<string | null>;
  subject_kind: Fixed<string>;
  subject_id: Fixed<string>;
  /** The publisher that it concerns; null if none. */
  publisher_id: Fixed<string | null>;
  action: Fixed<string>;
  status: Fixed<string | null>;
  reason: Fixed<string | null>;
  /** Its place in the feed of public changes; null until the feed is read, and if it is not public. */
  place: Generated<number | null>;
}

export interface JobTable {
  id: Fixed<string>;
  kind: Fixed<string>;
  /** One job per kind and key. */
  key: Fixed<string>;
  /** The user or publisher that it is for; empty if it is for none. */
  owner: string;
  /** 0, or 1 if it runs after all others of its kind. */
  priority: number;
  run_at: Time;
  /** Its place among the due jobs of its kind and priority; null until it is due. Owners share turns. */
  turn: number | null;
  /** How often it failed; one more while it runs. */
  attempts: number;
  /** How often in a row its process ended without releasing it. */
  unclean_ends: Generated<number>;
  /** How often its process ended like this while it ran no other job. */
  crashes: Generated<number>;
  leased_until: Time | null;
  leased_by: string | null;
  last_error: string | null;
  created_at: Fixed<Time>;
}

/** What a publisher used of a daily quota on the last day on which it used any. */
export interface QuotaUsageTable {
  publisher_id: Fixed<string>;
  /** The setting that limits it: `versionsPerDay`, `bytesPerDay`. */
  quota: Fixed<string>;
  /** ISO 8601 date, in UTC. */
  day: string;
  amount: number;
}

export interface IdempotencyTable {
  caller: Fixed<string>;
  operation: Fixed<string>;
  key: Fixed<string>;
  /** SHA-256 of path and body, hex. */
  request_hash: Fixed<string>;
  status: Fixed<number>;
  body: Fixed<Json>;
  created_at: Fixed<Time>;
}

/** The requests with an Idempotency-Key that run in one of the services that share the database. */
export interface RunningKeyTable {
  caller: Fixed<string>;
  operation: Fixed<string>;
  key: Fixed<string>;
  /** Identifies the request. */
  holder: string;
  /** Renewed while it runs; over, if its service ended. */
  until: Time;
}

/** Keys that the service creates for itself: one row per key. */
export interface KeyTable {
  id: Fixed<string>;
  /**
   * `token` signs tokens (Ed25519, JWK text); `url` signs upload and download URLs (HMAC, base64url); `statement` signs
   * statements (JSON with an Ed25519 JWK, without its private part once it is retired).
   */
  use: Fixed<'token' | 'url' | 'owner' | 'statement'>;
  secret: string;
  created_at: Fixed<Time>;
  /** When it stops being accepted; null while it is the newest of its use. */
  retired_at: Time | null;
}

/** Where the files are that the rows name: at most one row, number 1, and none if they are beside an embedded database. */
export interface StorageTable {
  number: Fixed<number>;
  /** What the file `store-id` in the storage says. */
  id: string;
  /** Its place as the first service found it, for people. */
  place: Fixed<string>;
}

/** What a user has begun and not ended. */
export interface ReservationTable {
  id: Fixed<string>;
  /** The user or publisher whose quota it counts for, or the vendor. */
  owner: Fixed<string>;
  quota: Fixed<'tasksInFlight' | 'bytesPerDay' | 'vendorLooks' | 'vendorStarts'>;
  amount: Fixed<number>;
  /** Its service renews it; after this time, that was killed. */
  until: Time;
}

export interface Schema {
  users: UserTable;
  publishers: PublisherTable;
  members: MemberTable;
  invitations: InvitationTable;
  personal_access_tokens: PersonalAccessTokenTable;
  trusts: TrustTable;
  used_identities: UsedIdentityTable;
  api_keys: ApiKeyTable;
  admin_tokens: AdminTokenTable;
  nodes: NodeTable;
  versions: VersionTable;
  host_nodes: HostNodeTable;
  readmes: ReadmeTable;
  uplink_versions: UplinkVersionTable;
  totals: TotalTable;
  tasks: TaskTable;
  credits: CreditTable;
  webhook_deliveries: WebhookDeliveryTable;
  webhook_secrets: WebhookSecretTable;
  events: EventTable;
  jobs: JobTable;
  quota_usage: QuotaUsageTable;
  idempotency: IdempotencyTable;
  running_keys: RunningKeyTable;
  reservations: ReservationTable;
  keys: KeyTable;
  storages: StorageTable;
}

// The rows of a table as they are read.
export type NodeRow = Selectable<NodeTable>;
export type PublisherRow = Selectable<PublisherTable>;
export type VersionRow = Selectable<VersionTable>;
export type TaskRow = Selectable<TaskTable>;
export type TrustRow = Selectable<TrustTable>;
export type PersonalAccessTokenRow = Selectable<PersonalAccessTokenTable>;
