export type Environment = Readonly<Record<string, string | undefined>>;

export interface KeychainRequest {
  readonly action: 'read' | 'write' | 'remove';
  /** Which secret of regen. */
  readonly account: string;
  readonly secret?: string;
}

/**
 * The operating system's store of secrets. Returns the secret that was read, if there is one.
 * @throws KeychainError
 */
export type Keychain = (request: KeychainRequest) => Promise<string | undefined>;

/** The keychain is missing, locked or not responding. The message has the reason, in the words of the system. */
export class KeychainError extends Error {
  override readonly name = 'KeychainError';
}

/** Where secrets are stored; `auto` is the keychain if one can be expected, otherwise a private file. */
export const SECRET_STORAGES = ['auto', 'keychain', 'file'] as const;
export type SecretStorage = (typeof SECRET_STORAGES)[number];

// Decided: CI jobs and sessions without a desktop have no unlocked keychain, so they do not wait for one.
export function isKeychainExpected({
  env,
  platform,
}: {
  readonly env: Environment;
  readonly platform: NodeJS.Platform;
}): boolean {
  if (env.CI) return false;
  return platform === 'darwin' || platform === 'win32' || Boolean(env.DBUS_SESSION_BUS_ADDRESS);
}
