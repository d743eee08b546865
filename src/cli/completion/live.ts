import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Client } from '../../client/client.js';
import { createPartPath } from '../../disk/part-file.js';
import { readPrivateFile } from '../../disk/private-file.js';
import { nameProgram, openLedger } from '../../flows/keys/key-ledger.js';
import type { Target } from '../../flows/tasks/task.js';
import { chooseCredential, fixedCredential } from '../connect/choose-credential.js';
import { Clients, type Connect } from '../connect/clients.js';
import { CredentialStore } from '../connect/credentials.js';
import { findFolders } from '../connect/folders.js';
import { findLocal } from '../connect/local.js';
import { chooseTarget, FIXED_KEYS, PROFILE_KEYS, Settings } from '../connect/settings.js';
import type { System } from '../terminal/system.js';
import type { Line } from './line.js';
import { isSafeValue } from './safe-value.js';

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
  if (kind === 'setting') return selectSafeValues(listSettingKeys(system));
  if (kind === 'task') return [...LAST_TASKS, ...selectSafeValues(listTasks(system))];
  return selectSafeValues(await readServiceValues(kind, line, asked));
}

function listProfiles(system: System): string[] {
  const keys = Object.keys(new Settings(system, silent).store.read());
  return ['local', ...keys.flatMap((key) => /^profiles\.([^.]+)\./.exec(key)?.[1] ?? [])];
}

function listSettingKeys(system: System): string[] {
  const named = listProfiles(system).slice(1);
  return [...FIXED_KEYS, ...named.flatMap((name) => PROFILE_KEYS.map((key) => `profiles.${name}.${key}`))];
}

/** What stands for the newest task. */
const LAST_TASKS = ['@last', '@last:image', '@last:video'];

/** Only the newest tasks are offered. */
const MAX_TASKS = 100;

function listTasks(system: System): string[] {
  const ids: string[] = [];
  const { env, now, identity, cwd } = system;
  const ledger = openLedger(nameProgram(env), findFolders(system).state, now, identity, cwd);
  for (const { id, task_id } of ledger.entries()) {
    if (ids.push(task_id ?? id) === MAX_TASKS) break;
  }
  return ids;
}

async function readServiceValues(
  kind: ServiceKind,
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
  // An empty list may have been read before the first node was published.
  const isFresh = kept.values.length > 0 && system.now() - kept.at < FRESH_MS;
  if (isFresh && !inBackground) return kept.values;

  const clients = new Clients({ system, settings, output: { note: async () => {} }, isVerbose: false });
  const reading = (async () => {
    const client = await connectToTarget(system, settings, target, clients.connect);
    if (!client) return undefined;
    const values = selectSafeValues(await readFromService(kind, client, nodeId));
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
    ...{ target, store },
    // Without renewing it: the shell may kill the renewal, which would end the sign-in.
    toCredential: ({ access_token }, source) => fixedCredential(access_token, source),
  });
  return connect(target.baseUrl, credential, target);
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

type ServiceKind = 'node' | 'version' | 'publisher' | 'delivery';

/** Kinds of values that come from a service, the settings or the ledger. */
export type LiveKind = ServiceKind | 'profile' | 'setting' | 'task';

const ONCE = { retries: 0 };

async function readFromService(
  kind: ServiceKind,
  client: Client,
  nodeId: string | undefined,
): Promise<string[]> {
  switch (kind) {
    case 'publisher':
      return (await client.publisher.list({}, ONCE)).flatMap(({ id }) => id ?? []);
    case 'node':
      return listNodes(client);
    case 'version':
      if (nodeId === undefined) return [];
      return (await client.version.list({ nodeId }, ONCE)).flatMap(({ version }) => version ?? []);
    case 'delivery':
      return (await client.webhook.deliveries({}, ONCE)).map(({ id }) => id);
  }
}

/** The user's own nodes first, then some of all nodes. */
async function listNodes(client: Client): Promise<string[]> {
  const listSome = async () => (await client.node.search({ limit: 100 }, ONCE)).nodes;
  const found = await Promise.allSettled([listOwnNodes(client), listSome()]);
  const read = found.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  if (read.length === 0) throw (found[0] as PromiseRejectedResult).reason;
  return read.flat().flatMap(({ id }) => id ?? []);
}

const MAX_PUBLISHERS = 10;

async function listOwnNodes(client: Client) {
  const publishers = await client.publisher.list({}, ONCE);
  const pages = publishers.slice(0, MAX_PUBLISHERS).map(async ({ id: publisherId = '' }) => {
    return (await client.node.list({ publisherId, limit: 100 }, ONCE)).nodes;
  });
  return (await Promise.all(pages)).flat();
}

const MAX_VALUES = 1000;

/** Selects the values that are safe for a shell, without duplicates. */
export function selectSafeValues(values: readonly string[]): string[] {
  return [...new Set(values)].filter(isSafeValue).slice(0, MAX_VALUES);
}

interface CachedValues {
  readonly values: readonly string[];
  /** When they were read, in milliseconds since 1970; 0 if never. */
  readonly at: number;
  /** When the last refresh in the background began. */
  readonly begun: number;
}

/** One small file for the values of one query to one service. */
class CompletionCache {
  readonly #path: string;

  /** @param query what identifies the query: service, kind, node */
  constructor(stateFolder: string, query: readonly string[]) {
    const name = createHash('sha256').update(JSON.stringify(query)).digest('hex').slice(0, 24);
    this.#path = join(stateFolder, 'completion', `${name}.json`);
  }

  read(): CachedValues {
    try {
      const { values, at, begun } = JSON.parse(readPrivateFile(this.#path) ?? '');
      if (Array.isArray(values) && typeof at === 'number' && typeof begun === 'number')
        return { values, at, begun };
    } catch {}
    return { values: [], at: 0, begun: 0 };
  }

  /** Writes at once, but without waiting for the disk: lost values are read again. */
  write(cached: CachedValues): void {
    mkdirSync(dirname(this.#path), { recursive: true, mode: 0o700 });
    const temporary = createPartPath(dirname(this.#path));
    writeFileSync(temporary, JSON.stringify(cached), { mode: 0o600 });
    renameSync(temporary, this.#path);
  }
}
