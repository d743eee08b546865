/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

export interface KeychainRequest {
  readonly action: 'read' | 'write' | 'remove';
  /** Which secret of ours. */
  readonly account: string;
  /** What is to be written. */
  readonly secret?: string;
}

/**
 * The operating system's store of secrets. Reading answers with the secret, where there is one.
 * @throws KeychainError
 */
export type Keychain = (request: KeychainRequest) => Promise<string | undefined>;

/** The keychain is not there, is locked, or does not answer; the message says which, in the system's words. */
export class KeychainError extends Error {
  override readonly name = 'KeychainError';
}

/** Where secrets are kept: in the keychain, in a private file, or the keychain where one can be expected. */
export const places = ['auto', 'keychain', 'file'] as const;
export type Place = (typeof places)[number];

// Decided: jobs and sessions without a desktop have no keychain that could be open, and are not asked to wait for one.
export function isExpected({
  env,
  platform,
}: {
  readonly env: Environment;
  readonly platform: NodeJS.Platform;
}): boolean {
  if (env.CI) return false;
  return platform === 'darwin' || platform === 'win32' || Boolean(env.DBUS_SESSION_BUS_ADDRESS);
}
