import type { Settings } from '../connect/settings.js';
import { isExpected, KeychainError } from '../terminal/keychain.js';
import type { System } from '../terminal/system.js';
import { type Finding, ok, warn } from './finding.js';

/** Where new credentials are kept, and whether the keychain answers. */
export async function checkKeychain(
  settings: Settings,
  system: Pick<System, 'env' | 'platform' | 'keychain'>,
): Promise<Finding> {
  const place = settings.credentialStore;
  if (place === 'file') return ok('keychain', 'not used: credential_store is file');
  if (place === 'auto' && !isExpected(system)) {
    return ok(
      'keychain',
      'none in a job or without a desktop session; credentials are kept in private files',
    );
  }
  try {
    await system.keychain({ action: 'read', account: 'doctor' });
    return ok('keychain', 'answers; credentials are kept in it');
  } catch (error) {
    if (!(error instanceof KeychainError)) throw error;
    const advice =
      'Credentials go to private files; without further tries: regen config set credential_store file';
    return warn('keychain', `cannot be used: ${error.message}`, advice);
  }
}
