/// <reference types="node" preserve="true" />
// What follows is for the command line, and has no types in the package.
/** @internal */
export { findIssuerTrouble } from './auth/issuer-keys.js';
/** @internal */
export { rotateKeyIn } from './auth/keys.js';
export type { Configuration, ConfigurationInput } from './configuration/configuration.js';
/** @internal */
export { parseConfiguration } from './configuration/configuration.js';
/** @internal */
export { loadVendorProfiles } from './configuration/generation-settings.js';
/** @internal */
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
/** @internal */
export { maskPassword } from './database/postgres.js';
/** @internal */
export { describeEngines } from './engines/describe-engines.js';
/** @internal */
export { loadScenario } from './http/load-scenario.js';
/** @internal */
export { backUpStore, checkServices, restoreFolder } from './maintenance/backup.js';
/** @internal */
export type { StoreReport } from './maintenance/check-store.js';
/** @internal */
export { copyFolder } from './maintenance/copy.js';
/** @internal */
export { measureFolder } from './maintenance/disk-use.js';
/** @internal */
export { migrateStore } from './maintenance/migrate-store.js';
/** @internal */
export { BackupRefused } from './maintenance/new-folder.js';
/** @internal */
export { pruneStore } from './maintenance/prune-store.js';
export type { TokenSubject } from './operation/identity.js';
export { type RunningService, type ServiceParts, startService } from './serve.js';
/** @internal */
export { readServiceFile, rotateOwnerTokenIn } from './storage/data-folder.js';
