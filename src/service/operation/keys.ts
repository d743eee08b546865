export interface SigningKey {
  readonly kid: string;
  /** Ed25519, private. */
  readonly jwk: Record<string, unknown>;
  /** When it stops being accepted, milliseconds since the epoch; absent for the key that signs. */
  readonly retiredAt?: number;
}

export interface Keys {
  /** HMAC key of signed URLs. */
  readonly url: Buffer;
  /** One signs, all verify until they are retired. Replaced as a whole when a key is added. */
  token: readonly SigningKey[];
  /** The embedded owner's bearer token, absent without a data folder. Replaced when it is rotated. */
  owner?: string;
  /** Reads the signing keys again, because another service may have added one. */
  reload(): Promise<void>;
}
