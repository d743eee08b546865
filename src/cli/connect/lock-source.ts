import type { LockSource } from '../../flows/install/lock-file.js';
import type { Needs } from './context.js';
import type { Service } from './services.js';

/** How a lock file names the registry of a command. */
export function findLockSource(
  { services, settings }: Needs<'services' | 'settings'>,
  { local, url }: Pick<Service, 'local' | 'url'>,
): LockSource {
  const [profile] = settings.listProfiles(services.target);
  const naming = (profile && settings.get(`profiles.${profile}.naming`)?.value) || 'regen';
  return {
    registry: local ? 'local' : url,
    naming: ['regen', 'comfy'].includes(naming) ? naming : 'custom',
  };
}
