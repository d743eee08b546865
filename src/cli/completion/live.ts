import { spawn } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { Ledger } from '../../flows/tasks/ledger.js';
import type { Target } from '../../flows/tasks/task.js';
import { Clients, type Connect } from '../connect/clients.js';
import { type Credential, chooseCredential, fixedCredential } from '../connect/credential.js';
import { CredentialStore } from '../connect/credentials.js';
import { findFolders } from '../connect/folders.js';
import { findLocal } from '../connect/local.js';
import { Settings } from '../connect/settings.js';
import { chooseTarget, isNamed } from '../connect/target.js';
import type { System } from '../terminal/system.js';
import { CompletionCache } from './cache.js';
import type { Line } from './line.js';
import { LIVE_READERS, type LiveKind, selectSafeValues } from './readers.js';

// Decided: a shell waits for at most 300 ms, and starting may take two thirds of that.
const LIVE_TIMEOUT_MS = 100;
const BACKGROUND_TIMEOUT_MS = 10_000;
const FRESH_MS = 60_000;

const silent = () => {};

/** How a completion was requested. */
export interface Asked {
  readonly system: System;
  /** The command line that requested it. */
  readonly argv: readonly string[];
  /** Whether nothing waits for the answer: it is only kept for the next completion. */
  readonly inBackground: boolean;
}

/** Reads the values of a kind that are safe for a shell. No service is started. */
export async function readLiveValues(kind: LiveKind, line: Line, asked: Asked): Promise<readonly string[]> {
  const { system } = asked;
  if (kind === 'profile') return selectSafeValues(listProfiles(system));
  if (kind === 'task') return selectSafeValues(listTasks(system));
  return selectSafeValues(await readServiceValues(kind, line, asked));
}

function listProfiles(system: System): string[] {
  const keys = Object.keys(new Settings(system, silent).store.read());
  return ['local', ...keys.flatMap((key) => /^profiles\.([^.]+)\./.exec(key)?.[1] ?? [])];
}

/** Only the newest tasks are offered. */
const MAX_TASKS = 100;

function listTasks(system: System): string[] {
  const ids: string[] = [];
  const ledger = new Ledger(findFolders(system).state, system.now, system.identity, system.cwd);
  for (const { id, task_id } of ledger.entries()) {
    if (ids.push(task_id ?? id) === MAX_TASKS) break;
  }
  return ids;
}

async function readServiceValues(
  kind: keyof typeof LIVE_READERS,
  { args, flags }: Line,
  asked: Asked,
): Promise<readonly string[]> {
  const { system, inBackground } = asked;
  const settings = new Settings(system, silent);
  const target = chooseTarget(flags, system.env, settings);
  const nodeId = args.nodeId ?? args.node_id ?? flags['node-id'];
  const query = [target.profile ?? '', target.baseUrl ?? target.name, kind, nodeId ?? ''];
  const cache = new CompletionCache(findFolders(system).state, query);
  const kept = cache.read();
  if (system.now() - kept.at < FRESH_MS && !inBackground) return kept.values;

  const clients = new Clients({ system, settings, output: { note: async () => {} }, isVerbose: false });
  const reading = (async () => {
    const client = await connectToTarget(system, settings, target, clients.connect);
    if (!client) return undefined;
    const { signal } = new AbortController();
    const values = selectSafeValues(await LIVE_READERS[kind]({ client, nodeId, signal }));
    cache.write({ values, at: system.now(), begun: kept.begun });
    return values;
  })().catch(() => undefined);
  const late = pause(inBackground ? BACKGROUND_TIMEOUT_MS : LIVE_TIMEOUT_MS, 'late' as const, { ref: false });
  const values = await Promise.race([reading, late]);
  await clients.close();
  if (values !== 'late') return values ?? kept.values;
  if (!inBackground && system.now() - kept.begun > FRESH_MS) {
    cache.write({ ...kept, begun: system.now() });
    readInBackground(asked);
  }
  return kept.values;
}

/** Connects with the credential that a command would use. The embedded service is not started. */
async function connectToTarget(system: System, settings: Settings, target: Target, connect: Connect) {
  if (target.baseUrl === undefined) {
    return (await findLocal(findFolders(system).data, connect))?.client;
  }
  const store = new CredentialStore(system, target, silent, settings.credentialStore);
  const credential = await chooseCredential(system, {
    ...(isNamed(target) && { env: system.env }),
    kept: () => readKept(store),
  });
  return connect(target.baseUrl, credential, target);
}

/** Reads the credential without renewing it: the shell may kill the renewal, which would end the sign-in. */
async function readKept(store: CredentialStore): Promise<Credential | undefined> {
  const { token, sign_in } = await store.read();
  const kept = token ?? sign_in?.access_token;
  return kept === undefined ? undefined : fixedCredential(kept, store.path);
}

/** Reads the values in the background, for the next completion. */
function readInBackground({ system, argv }: Asked): void {
  const [node, entry] = system.executable;
  const [name, ...rest] = argv as [string, ...string[]];
  spawn(node, [entry, name, '--background', ...rest], {
    detached: true,
    stdio: 'ignore',
    env: system.env as NodeJS.ProcessEnv,
    cwd: system.home,
    windowsHide: true,
  })
    .once('error', silent)
    .unref();
}
