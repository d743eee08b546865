/** The user id of the embedded owner, who is an ordinary user. */
export const OWNER_ID = 'owner';

/** Who sends a request. */
export interface Caller {
  readonly kind:
    | 'none'
    | 'service'
    | 'owner'
    | 'personal_access_token'
    | 'identity_provider'
    | 'admin_token'
    | 'api_key';
  /** The user; for a personal access token or an API key, its creator. Absent if the kind is `none`. */
  readonly userId?: string;
  readonly admin: boolean;
  /** What the sign-in lacks for changes that only owners and admins make, if anything. */
  readonly weakness?: string | undefined;
  /** The publisher of a personal access token. */
  readonly publisherId?: string;
  /** The ids of the nodes that a personal access token is limited to; absent if it is not. */
  readonly nodes?: readonly string[] | undefined;
  /** Whether an owner has to approve what a personal access token publishes. */
  readonly stages?: boolean;
  /** The operations that an API key may start; absent if it may start all. */
  readonly operations?: readonly string[] | undefined;
  /** The id of a personal access token, an admin token or an API key. */
  readonly tokenId?: string;
  /** The name of an API key. Keys of a user with the same name belong to one program, which goes on with its tasks. */
  readonly keyName?: string;
  /** ISO 8601; absent if the credential does not expire. */
  readonly expiresAt?: string;
  /** Identifies the caller for idempotency keys and rate limits. */
  readonly key: string;
}
