import { createRequire } from 'node:module';
import { requireFreeHandles } from '../disk/file-handles.js';
import { isMachineTrouble } from '../disk/machine-trouble.js';

/** Optional packages are missing or cannot be loaded; the message says what the service cannot do without them. */
export class PackageMissing extends Error {
  override readonly name = 'PackageMissing';
}

/**
 * Loads optional packages.
 * @param message of the error if they are missing
 * @throws PackageMissing
 */
export function loadPackages<Packages>(
  message: string,
  load: (require: NodeJS.Require) => Packages,
): Packages {
  try {
    requireFreeHandles();
    // Not `import`, which never tries a file again that it could not read, and loads a hundred files of mediabunny instead of one.
    return load(createRequire(import.meta.url));
  } catch (cause) {
    throw isMachineTrouble(cause) ? cause : new PackageMissing(message, { cause });
  }
}
