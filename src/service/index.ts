export type { TokenSubject } from './auth/tokens.js';
export type { Configuration, ConfigurationInput } from './configuration.js';
export type { Context } from './context.js';
export { readServiceFile } from './folder.js';
export { ownerProof } from './http/owner-proof.js';
export { rotateKeyIn } from './rotate-key.js';
export { type RunningService, type ServiceParts, startService } from './serve.js';
export {
  FolderInUse,
  InvalidConfiguration,
  OwnerTokenInvalid,
  PortTaken,
  type ServiceFile,
} from './start-failures.js';
