import { spawn } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import type { Target } from '../../flows/tasks/task.js';
import { CompletionCache } from '../completion/cache.js';
import { parsePartialLine } from '../completion/line.js';
import { LIVE_READERS, type LiveKind, selectSafeValues } from '../completion/live.js';
import { listModelValues } from '../completion/models.js';
import { type Credential, chooseCredential, fixedCredential } from '../connect/credential.js';
import { CredentialStore } from '../connect/credentials.js';
import { connectLocal, findLocal } from '../connect/local.js';
import { Settings } from '../connect/settings.js';
import { chooseTarget, isNamed } from '../connect/target.js';
import { BuiltTree } from '../views/tree.js';
import type { CommandContext } from './context.js';

// Decided: a shell waits for at most 300 ms, and starting takes two thirds of that.
const LIVE_TIMEOUT_MS = 100;
const BACKGROUND_TIMEOUT_MS = 10_000;
const FRESH_MS = 60_000;

/** Prints the values that a shell can offer, one per line. Errors are ignored, and no service is started. */
export async function run(context: CommandContext): Promise<void> {
  try {
    const kind = context.args.kind as LiveKind;
    const words = (context.args.words as readonly string[] | undefined) ?? [];
    const values = await readValues(context, kind, words);
    for (const value of selectSafeValues(values)) await context.output.line(value);
  } catch {
    // A shell would print an error in the middle of the command line.
  }
}

const silent = () => {};

function readValues(context: CommandContext, kind: LiveKind, words: readonly string[]) {
  if (kind === 'profile') return listProfiles(context);
  if (kind === 'duration' || kind === 'resolution')
    return listModelValues(parsePartialLine(new BuiltTree().readWhole(), words), kind);
  return kind === 'task' ? listTasks(context) : readLive(context, kind, words);
}

function listProfiles({ system }: CommandContext): string[] {
  const keys = Object.keys(new Settings(system, silent).store.read());
  return ['local', ...keys.flatMap((key) => /^profiles\.([^.]+)\./.exec(key)?.[1] ?? [])];
}

/** Only the newest tasks are offered. */
const MAX_TASKS = 100;

function listTasks({ ledger }: CommandContext): string[] {
  const ids: string[] = [];
  for (const { id, task_id } of ledger.entries()) {
    if (ids.push(task_id ?? id) === MAX_TASKS) break;
  }
  return ids;
}

async function readLive(
  context: CommandContext,
  kind: LiveKind,
  words: readonly string[],
): Promise<readonly string[]> {
  const { system, folders } = context;
  const read = LIVE_READERS[kind as keyof typeof LIVE_READERS];
  if (!read) return [];
  const { args, flags } = parsePartialLine(new BuiltTree().readWhole(), words);
  const target = chooseTarget(flags, system.env, new Settings(system, silent));
  const nodeId = args.nodeId ?? args.node_id ?? flags['node-id'];
  const cache = new CompletionCache(folders.state, [target.baseUrl ?? target.name, kind, nodeId ?? '']);
  const kept = cache.read();
  const inBackground = context.flags.background === true;
  if (system.now() - kept.at < FRESH_MS && !inBackground) return kept.values;

  const reading = (async () => {
    const client = await connectToTarget(context, target);
    if (!client) return undefined;
    const values = selectSafeValues(await read({ client, nodeId, signal: context.signal }));
    cache.write({ values, at: system.now(), begun: kept.begun });
    return values;
  })().catch(() => undefined);
  const late = pause(inBackground ? BACKGROUND_TIMEOUT_MS : LIVE_TIMEOUT_MS, 'late' as const, { ref: false });
  const values = await Promise.race([reading, late]);
  if (values !== 'late') return values ?? kept.values;
  if (!inBackground && system.now() - kept.begun > FRESH_MS) {
    cache.write({ ...kept, begun: system.now() });
    readInBackground(context, kind, words);
  }
  return kept.values;
}

/** Connects with the credential that a command would use. The embedded service is not started. */
async function connectToTarget(context: CommandContext, target: Target) {
  const { system, folders } = context;
  if (target.baseUrl === undefined) {
    const local = await findLocal(folders.data, context.connect);
    return local && connectLocal(local, context.connect);
  }
  const place = new Settings(system, silent).credentialStore;
  const store = new CredentialStore(system, target.baseUrl, silent, place);
  const credential = await chooseCredential(system, {
    ...(isNamed(target) && { env: system.env }),
    kept: () => readKept(store),
  });
  return context.connect(target.baseUrl, credential);
}

/** Reads the credential without renewing it: the shell may kill the renewal, which would end the sign-in. */
async function readKept(store: CredentialStore): Promise<Credential | undefined> {
  const { token, sign_in } = await store.read();
  const kept = token ?? sign_in?.access_token;
  return kept === undefined ? undefined : fixedCredential(kept, store.path);
}

/** Reads the values in the background, for the next completion. */
function readInBackground({ system }: CommandContext, kind: LiveKind, words: readonly string[]): void {
  const [node, entry] = system.executable;
  spawn(node, [entry, '__complete', kind, '--background', '--', ...words], {
    detached: true,
    stdio: 'ignore',
    env: system.env as NodeJS.ProcessEnv,
    cwd: system.home,
    windowsHide: true,
  })
    .once('error', silent)
    .unref();
}
