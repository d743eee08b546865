import type { RunCommand } from './commands/context.js';

type Module = () => Promise<{ readonly run: RunCommand }>;

/** The files in `commands/`. Each is loaded only when its command runs. */
const MODULES: Record<string, Module> = {
  operation: () => import('./commands/operation.js'),
  publish: () => import('./commands/publish.js'),
  'version-bump': () => import('./commands/version-bump.js'),
  'version-deprecate': () => import('./commands/version-deprecate.js'),
  'publisher-token-check': () => import('./commands/publisher-token-check.js'),
  pack: () => import('./commands/pack.js'),
  download: () => import('./commands/download.js'),
  bulk: () => import('./commands/bulk.js'),
  check: () => import('./commands/check.js'),
  'version-reasons': () => import('./commands/version-reasons.js'),
  diff: () => import('./commands/diff.js'),
  'host-nodes-list': () => import('./commands/host-nodes-list.js'),
  generate: () => import('./commands/generate.js'),
  'generation-status': () => import('./commands/generation-status.js'),
  'task-list': () => import('./commands/task-list.js'),
  'task-show': () => import('./commands/task-show.js'),
  'task-wait': () => import('./commands/task-wait.js'),
  'task-download': () => import('./commands/task-download.js'),
  'task-cancel': () => import('./commands/task-cancel.js'),
  'task-forget': () => import('./commands/task-forget.js'),
  'task-rerun': () => import('./commands/task-rerun.js'),
  batch: () => import('./commands/batch.js'),
  init: () => import('./commands/init.js'),
  doctor: () => import('./commands/doctor.js'),
  completion: () => import('./commands/completion.js'),
  schema: () => import('./commands/schema.js'),
  api: () => import('./commands/api.js'),
  config: () => import('./commands/config.js'),
  'admin-review': () => import('./commands/admin-review.js'),
  'admin-exec': () => import('./commands/admin-exec.js'),
  'webhook-listen': () => import('./commands/webhook-listen.js'),
  'webhook-verify': () => import('./commands/webhook-verify.js'),
  'webhook-trigger': () => import('./commands/webhook-trigger.js'),
  'webhook-secret': () => import('./commands/webhook-secret.js'),
  'admin-generate-token': () => import('./commands/admin-generate-token.js'),
  'auth-login': () => import('./commands/auth-login.js'),
  'auth-logout': () => import('./commands/auth-logout.js'),
  'auth-status': () => import('./commands/auth-status.js'),
  'auth-token': () => import('./commands/auth-token.js'),
  serve: () => import('./commands/serve.js'),
  'serve-status': () => import('./commands/serve-status.js'),
  'serve-stop': () => import('./commands/serve-stop.js'),
  'serve-rotate-key': () => import('./commands/serve-rotate-key.js'),
  'serve-rotate-token': () => import('./commands/serve-rotate-token.js'),
  'serve-logs': () => import('./commands/serve-logs.js'),
  'serve-migrate': () => import('./commands/serve-migrate.js'),
  'serve-prune': () => import('./commands/serve-prune.js'),
  'serve-data': () => import('./commands/serve-data.js'),
  'serve-init': () => import('./commands/serve-init.js'),
};

export async function loadRunner(name: string): Promise<RunCommand> {
  const load = MODULES[name];
  if (!load) throw new Error(`There is no module ${name}.`);
  return (await load()).run;
}
