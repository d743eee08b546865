export { rotateKeyIn } from './auth/keys.js';
export type { TokenSubject } from './auth/tokens.js';
export {
  type Configuration,
  type ConfigurationInput,
  parseConfiguration,
} from './configuration/configuration.js';
export {
  listSettings,
  mergeSettings,
  readEnvironment,
  type Setting,
  writeConfigurationFile,
} from './configuration/settings.js';
export {
  FolderInUse,
  InvalidConfiguration,
  OwnerTokenInvalid,
  PortTaken,
  ResourceExhausted,
  type ServiceFile,
} from './configuration/start-errors.js';
export { DataUnusable } from './database/data-unusable.js';
export {
  BackupRefused,
  backUpFolder,
  checkFolder,
  restoreFolder,
} from './maintenance/backup.js';
export type { StoreReport } from './maintenance/check-store.js';
export type { Context } from './operation/context.js';
export { type RunningService, type ServiceParts, startService } from './serve.js';
export { readServiceFile, rotateOwnerTokenIn } from './storage/data-folder.js';
