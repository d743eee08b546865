import type { ColumnType, Generated, Selectable } from 'kysely';
import type { TaskOperation } from '../../contract/index.js';

// Types that both engines share: times are ISO 8601 text in UTC, JSON is text, booleans are 0 or 1.
type Time = string;
type Json = string;

/** Written once and never updated. */
type Fixed<Type> = ColumnType<Type, Type, never>;

export interface UserTable {
  id: Fixed<string>;
  /** Issuer and subject of the token; both null for an invitation that is not accepted yet. */
  issuer: string | null;
  subject: string | null;
  email: string | null;
  name: string | null;
  created_at: Fixed<Time>;
}

export interface PublisherTable {
  id: Fixed<string>;
  name: string;
  description: string | null;
  logo: string | null;
  source_code_repo: string | null;
  support: string | null;
  website: string | null;
  status: string;
  status_reason: string | null;
  /** The id without case and hyphens, so that new ids do not look like it; null if an older id has it too. */
  plain_id: Fixed<string | null>;
  created_at: Fixed<Time>;
}

export interface MemberTable {
  publisher_id: Fixed<string>;
  user_id: Fixed<string>;
  role: 'owner' | 'member';
  created_at: Fixed<Time>;
}

export interface PersonalAccessTokenTable {
  id: Fixed<string>;
  publisher_id: Fixed<string>;
  name: Fixed<string>;
  description: Fixed<string | null>;
  /** The first 4 characters of the token's random part. */
  prefix: Fixed<string>;
  /** SHA-256 of the whole token, hex. */
  hash: Fixed<string>;
  /** A list of the ids of the nodes that it is limited to; null if it is for all of them. */
  nodes: Fixed<Json | null>;
  /** A member of the publisher; the token is deleted with the membership. */
  created_by: Fixed<string>;
  created_at: Fixed<Time>;
  expires_at: Fixed<Time>;
  last_used_at: Time | null;
}

/** Admin tokens that are not revoked. */
export interface AdminTokenTable {
  jti: Fixed<string>;
  user_id: Fixed<string>;
  created_at: Fixed<Time>;
  expires_at: Fixed<Time>;
}

export interface NodeTable {
  id: Fixed<string>;
  /** The id in lower case: ids are unique without regard to case. */
  folded_id: Fixed<string>;
  /** The id without case and `-`, `_`, `.`, so that new ids do not look like it; null if an older id has it too. */
  plain_id: Fixed<string | null>;
  publisher_id: Fixed<string>;
  name: string;
  /** The other fields that users and admins set, as in the contract. */
  details: Json;
  /** Counts nodes in the order of their creation. */
  number: Fixed<number>;
  /** Lower-case id, name, description and tags, for search; `registry/search-index.ts` builds it. */
  search_text: string;
  /** The node's place in search results, first to last; null while search does not find it. */
  search_key: number | null;
  search_ranking: number;
  status: string;
  status_detail: string | null;
  downloads: number;
  latest_version_id: string | null;
  created_at: Fixed<Time>;
}

export interface VersionTable {
  id: Fixed<string>;
  node_id: Fixed<string>;
  version: Fixed<string>;
  /** The other fields that users and admins set, as in the contract. */
  details: Json;
  status: string;
  status_reason: string | null;
  extract_status: 'pending' | 'success' | 'failed';
  /** Bytes, SHA-256 and tree digest of the archive; null until the upload (the tree until the check). */
  archive_size: number | null;
  archive_sha256: string | null;
  archive_tree: string | null;
  uploaded_at: Time | null;
  created_at: Fixed<Time>;
}

export interface HostNodeTable {
  version_id: Fixed<string>;
  node_id: Fixed<string>;
  name: Fixed<string>;
  definition: Json;
  policy: string;
  /** 1 while the list of all definitions includes it; `registry/listed-host-nodes.ts` updates it. */
  listed: Generated<0 | 1>;
}

/** Stored counts, because counting slows down as tables grow. */
export interface TotalTable {
  name: Fixed<string>;
  value: number;
}

/** As in the contract: image tasks in upper case, video tasks in lower case. */
export type TaskStatus =
  | 'CREATED'
  | 'IN_PROGRESS'
  | 'COMPLETED'
  | 'FAILED'
  | 'created'
  | 'queueing'
  | 'processing'
  | 'success'
  | 'failed';

/** One generation of images or of a video. Only `task-states.ts` changes its status. */
export interface TaskTable {
  id: Fixed<string>;
  /** The operation that started it: `image.relight`. */
  operation: Fixed<TaskOperation>;
  creator: Fixed<string>;
  status: TaskStatus;
  /** The validated request; a field that held an image holds its name in `images`. */
  request: Fixed<Json>;
  /** A list of the names of the stored inputs. */
  images: Fixed<Json>;
  seed: Fixed<number>;
  /** Null without a webhook, or after the receiver answered 410. */
  webhook_url: string | null;
  /** The generated files, a list of `{ name, contentType, size, sha256 }`; null until it succeeds. */
  results: Json | null;
  /** Why it failed: a sentence, and a code for programs. */
  reason: string | null;
  error_code: string | null;
  /** What its engine stores about it. */
  memory: string | null;
  /** The last callback of a vendor about it. */
  callback: Json | null;
  created_at: Fixed<Time>;
}

/** Append-only: the costs of tasks. A task has at most one entry of each kind. */
export interface CreditTable {
  task_id: Fixed<string>;
  kind: Fixed<'charge' | 'refund'>;
  user_id: Fixed<string>;
  /** 0 or more; a refund has the amount of the charge. */
  amount: Fixed<number>;
  at: Fixed<Time>;
}

/** Webhook deliveries: one row per change of a task's status, in order. */
export interface WebhookDeliveryTable {
  number: Generated<number>;
  /** The webhook-id, the same for all retries. */
  id: Fixed<string>;
  task_id: Fixed<string>;
  /** The task's creator, whose secret signs. */
  user_id: Fixed<string>;
  url: Fixed<string>;
  /** The task's status that is delivered. */
  state: Fixed<TaskStatus>;
  status: 'pending' | 'delivered' | 'failed' | 'gone';
  attempts: number;
  /** Why the last attempt failed. */
  reason: string | null;
  /** Null unless pending. */
  next_at: Time | null;
  created_at: Fixed<Time>;
}

/** The secrets that sign a user's webhooks: the current one, and for a while the replaced ones. */
export interface WebhookSecretTable {
  number: Generated<number>;
  user_id: Fixed<string>;
  /** `whsec_` and Base64. */
  secret: Fixed<string>;
  created_at: Fixed<Time>;
  replaced_at: Time | null;
}

/** Append-only: the source of the histories and the audit log. */
export interface EventTable {
  id: Generated<number>;
  at: Fixed<Time>;
  actor: Fixed<string>;
  subject_kind: Fixed<string>;
  subject_id: Fixed<string>;
  /** The publisher that it concerns; null if none. */
  publisher_id: Fixed<string | null>;
  action: Fixed<string>;
  status: Fixed<string | null>;
  reason: Fixed<string | null>;
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

/** Keys that the service creates for itself: one row per key. */
export interface KeyTable {
  id: Fixed<string>;
  /** `token` signs tokens (Ed25519, JWK text); `url` signs upload and download URLs (HMAC, base64url). */
  use: Fixed<'token' | 'url'>;
  secret: Fixed<string>;
  created_at: Fixed<Time>;
  /** When it stops being accepted; null while it is the newest of its use. */
  retired_at: Time | null;
}

export interface Schema {
  users: UserTable;
  publishers: PublisherTable;
  members: MemberTable;
  personal_access_tokens: PersonalAccessTokenTable;
  admin_tokens: AdminTokenTable;
  nodes: NodeTable;
  versions: VersionTable;
  host_nodes: HostNodeTable;
  totals: TotalTable;
  tasks: TaskTable;
  credits: CreditTable;
  webhook_deliveries: WebhookDeliveryTable;
  webhook_secrets: WebhookSecretTable;
  events: EventTable;
  jobs: JobTable;
  quota_usage: QuotaUsageTable;
  idempotency: IdempotencyTable;
  keys: KeyTable;
}

// The rows of a table as they are read.
export type NodeRow = Selectable<NodeTable>;
export type PublisherRow = Selectable<PublisherTable>;
export type VersionRow = Selectable<VersionTable>;
export type TaskRow = Selectable<TaskTable>;
export type PersonalAccessTokenRow = Selectable<PersonalAccessTokenTable>;
