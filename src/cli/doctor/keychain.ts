import type { Settings } from '../connect/settings.js';
import { isKeychainExpected, KeychainError } from '../terminal/keychain.js';
import type { System } from '../terminal/system.js';
import { type Finding, ok, warn } from './finding.js';

/** Checks where new credentials are stored, and whether the keychain responds. */
export async function checkKeychain(
  settings: Settings,
  system: Pick<System, 'env' | 'platform' | 'keychain'>,
): Promise<Finding> {
  const storage = settings.credentialStore;
  if (storage === 'file') return ok('keychain', 'not used: credential_store is file');
  if (storage === 'auto' && !isKeychainExpected(system)) {
    return ok(
      'keychain',
      'not used in CI or without a desktop session; credentials are stored in private files',
    );
  }
  try {
    await system.keychain({ action: 'read', account: 'doctor' });
    return ok('keychain', 'available; credentials are stored in it');
  } catch (error) {
    if (!(error instanceof KeychainError)) throw error;
    const advice =
      'Credentials are stored in private files. To stop trying the keychain: regen config set credential_store file';
    return warn('keychain', `not available: ${error.message}`, advice);
  }
}
