import type { Generated } from 'kysely';
import type { TaskOperation } from '../../contract/index.js';
import type { Fixed, Json, Time } from './column-types.js';

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
  /** The API key that started it; null if none did. */
  key_id: Fixed<string | null>;
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
  /** Since when a vendor may have started it, and may charge for it; null if none was asked. */
  asked_at: Time | null;
  /** The last callback of a vendor about it. */
  callback: Json | null;
  created_at: Fixed<Time>;
}

/** Append-only: the costs of tasks, which outlast them. A task has a charge, and at most one of the others. */
export interface CreditTable {
  task_id: Fixed<string>;
  /** A waiver is given back to the user like a refund, but not to a budget, because a vendor may have charged it. */
  kind: Fixed<'charge' | 'refund' | 'waiver'>;
  user_id: Fixed<string>;
  /** 0 or more; a refund has the amount of the charge. */
  amount: Fixed<number>;
  at: Fixed<Time>;
  /** The month of the charge, in UTC: `2026-03`. A refund counts in it too. */
  month: Fixed<string>;
  operation: Fixed<TaskOperation>;
  /** Null for images. */
  model: Fixed<string | null>;
  /** The API key that started the task; null if none did. */
  key_id: Fixed<string | null>;
  /** Of a charge: what the vendor says that it charges for the task; null if it does not say. Of others: 0, or null if
   * their charge has none. */
  vendor_credits: number | null;
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
  status: 'pending' | 'delivered' | 'failed' | 'gone' | 'cancelled';
  attempts: number;
  /** Why the last attempt failed, or why there is none. */
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

/** Keys with which scripts start tasks of a user. Revoked ones stay, because usage names them. */
export interface ApiKeyTable {
  id: Fixed<string>;
  user_id: Fixed<string>;
  name: Fixed<string>;
  /** The first 4 characters of the key's random part. */
  prefix: Fixed<string>;
  /** SHA-256 of the whole key, hex. */
  hash: Fixed<string>;
  /** A list of the operations that it may start; null if it may start all. */
  operations: Fixed<Json | null>;
  /** The most credits of a month, in UTC; null if only the user's limit applies. */
  credits_per_month: Fixed<number | null>;
  /** The most credits until it ends; null without such a limit. */
  credits: Fixed<number | null>;
  created_at: Fixed<Time>;
  expires_at: Time;
  last_used_at: Time | null;
  revoked_at: Time | null;
}
