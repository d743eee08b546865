import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { readPrivateFile, writePrivateFile } from '../../disk/private-file.js';
import { hasEndedProcess, type ProcessIdentity } from '../../disk/process-identity.js';
import { isImageReference } from './image-reference.js';

/** A task that was started from this machine, or is about to be. */
export interface Entry {
  /** The local id; the id of the task is known only after the response. */
  readonly id: string;
  readonly idempotency_key: string;
  /** The address of the service, or `local`. */
  readonly service: string;
  /** The profile whose credentials started it, if one was used. */
  readonly profile?: string;
  /** Such as `image.relight`. */
  readonly operation: string;
  /** The body that was sent, with an `ImageReference` instead of the data of an image. */
  readonly request: Readonly<Record<string, unknown>>;
  /** The value of `{name}` in an output path. */
  readonly name: string;
  readonly created_at: string;
  readonly task_id?: string;
  readonly state?: string;
  /** Output URLs, and the paths where they were saved. */
  readonly outputs?: readonly string[];
  readonly saved?: readonly string[];
  /** As reported by the service; until then, and if it reports none, the price on its list. */
  readonly credits?: number;
  readonly seed?: number;
  /** Why it failed, as the service says. */
  readonly err_code?: string | undefined;
  readonly reason?: string | undefined;
  /** The process that is working on it; absent in entries of older releases. */
  readonly owner?: ProcessIdentity;
  /** Where to save its results: absolute, still with {ext}. Absent if the path depends on the task id. */
  readonly output?: string;
  /** Its command has printed or saved the result, so the same command starts a new task. */
  readonly closed?: true | undefined;
  /** A job of a batch, which is resumed from the journal of the batch. */
  readonly batch?: true;
}

export type NewEntry = Pick<Entry, 'service' | 'operation' | 'request' | 'name'> &
  Partial<Pick<Entry, 'profile' | 'output' | 'batch' | 'credits'>>;

/** Which entry of the ledger a request may reuse. */
export type EntryChoice =
  /** The known entry, if it is for the same request, or a new one. */
  | { readonly known: string | undefined }
  /** An entry that a dead process left unfinished, or a new one. */
  | 'unfinished'
  /** Always a new one. */
  | 'new';

const LOCAL_ID = /^[a-z0-9]+-[a-f0-9]+-[a-f0-9]+$/;

// Decided: for 24 hours, the same command resumes what an earlier run left unfinished.
export const RESUME_MS = 24 * 60 * 60_000;

// Decided: a new entry removes those older than 90 days; no task runs that long.
const MAX_AGE_MS = 90 * 24 * 60 * 60_000;

/** The name of a service in the ledger. */
export function serviceKey({ baseUrl }: { readonly baseUrl?: string }): string {
  return baseUrl === undefined ? 'local' : new URL(baseUrl).href.replace(/\/$/, '');
}

/**
 * The tasks that this user started: one small, private file per task, written atomically. A local id begins with its
 * time and contains a digest of the request, so the newest and the repeated entries are found by file names alone.
 */
export class Ledger {
  readonly #folder: string;
  /**
   * Local ids of earlier processes by digest, newest first. Each is tried once: the same image given twice makes two
   * tasks. Listed once, because one process may start thousands.
   */
  #untried: Map<string, string[]> | undefined;
  /** Tasks that earlier runs left unfinished, by the digest of their request without its account; listed once. */
  #unfinished: Map<string, Entry[]> | undefined;
  /** Local ids by remote ones; read once, because a command may be given many. */
  #byTask: Map<string, string> | undefined;

  constructor(
    stateFolder: string,
    readonly now: () => number,
    readonly identity: ProcessIdentity,
    /** The folder that relative paths of saved files refer to. */
    readonly cwd: string,
    /** How long to wait for another process that writes. */
    readonly maxWaitMs = 10_000,
  ) {
    this.#folder = join(stateFolder, 'tasks');
  }

  /**
   * Opens the entry for a request before it is sent, writes it to disk, and makes this process its owner.
   * @returns the entry, whether an earlier process made it, and an unfinished entry that is too old to resume, if any
   */
  async open(
    draft: NewEntry,
    choice: EntryChoice,
  ): Promise<{ readonly entry: Entry; readonly repeats: boolean; readonly stale: Entry | undefined }> {
    const digest = computeDigest(draft);
    this.#untried ??= groupBy(this.#removeOld(), readDigest);
    const ids = this.#listReusable(digest, choice);
    let stale: Entry | undefined;
    for (let id = ids.shift(); id !== undefined; id = ids.shift()) {
      const seen = this.read(id);
      if (!seen || !(choice === 'unfinished' ? this.#isUnfinished(seen) : seen.task_id === undefined))
        continue;
      const entry = this.#isRecent(seen) && (await this.#takeOver(id, choice));
      if (entry) return { entry, repeats: true, stale: undefined };
      if (seen.task_id === undefined) stale ??= seen;
    }
    const entry = this.#draft(draft, digest);
    this.#write(entry);
    return { entry, repeats: false, stale };
  }

  #listReusable(digest: string, choice: EntryChoice): string[] {
    if (choice === 'unfinished') return this.#untried?.get(digest) ?? [];
    const known = choice === 'new' ? undefined : choice.known;
    return known !== undefined && readDigest(known) === digest ? [known] : [];
  }

  /** Whether earlier runs left a task of one of these operations that the same command resumes. */
  hasUnfinished(operations: ReadonlySet<string>): boolean {
    for (const { operation } of this.#listUnfinished()) if (operations.has(operation)) return true;
    return false;
  }

  /** Finds another task of the same request that an earlier run of any account left unfinished. */
  findUnfinished({ id: own, ...draft }: Entry): Entry | undefined {
    const compute = ({ profile: _, ...request }: NewEntry) => computeDigest(request);
    this.#unfinished ??= groupBy(this.#listUnfinished(), compute);
    return this.#unfinished.get(compute(draft))?.find(({ id }) => id !== own);
  }

  *#listUnfinished(): Generator<Entry> {
    for (const entry of this.entries()) {
      if (!this.#isRecent(entry)) return;
      if (this.#isUnfinished(entry)) yield entry;
    }
  }

  /**
   * Finds what `open` would resume of an earlier run, in the order of the requests.
   * @param counted how many tasks of equal requests were found so far, by their digest
   */
  findEarlier(draft: NewEntry, counted: Map<string, number>): Entry | undefined {
    const digest = computeDigest(draft);
    this.#untried ??= groupBy(this.#removeOld(), readDigest);
    const ids = this.#listReusable(digest, 'unfinished');
    for (let at = counted.get(digest) ?? 0; at < ids.length; at++) {
      counted.set(digest, at + 1);
      const entry = this.read(ids[at] as string);
      if (entry && this.#isUnfinished(entry) && this.#isRecent(entry)) return entry;
    }
    return undefined;
  }

  #isRecent({ created_at }: Entry): boolean {
    return this.now() - Date.parse(created_at) < RESUME_MS;
  }

  /** Whether an earlier run left an unfinished task with this output path. */
  isUnfinishedAt(output: string): boolean {
    for (const entry of this.entries()) {
      if (entry.output === output && this.#isUnfinished(entry)) return true;
    }
    return false;
  }

  /** Makes this process the owner of the entry, unless another process was faster. */
  async #takeOver(id: string, choice: EntryChoice): Promise<Entry | undefined> {
    // Loaded only where it is used, because most commands do not need its native driver.
    const { withLock } = await import('../../disk/lock.js');
    return await withLock(`${this.#folder}.lock`, this.maxWaitMs, () => {
      const entry = this.read(id);
      // Another process may have taken it over, or even finished it, by now.
      if (!entry || !(choice === 'unfinished' ? this.#isUnfinished(entry) : this.#isMine(entry)))
        return undefined;
      const own = { ...entry, owner: this.identity };
      this.#write(own);
      return own;
    });
  }

  #isMine({ owner }: Entry): boolean {
    return owner === undefined || isOwn(owner, this.identity) || hasEndedProcess(owner);
  }

  #isUnfinished({ owner, closed, batch, task_id }: Entry): boolean {
    if (closed || batch) return false;
    // Older releases considered a task finished once the start was answered.
    return owner === undefined ? task_id === undefined : hasEndedProcess(owner);
  }

  /** Removes old entries, by file name alone, and returns the remaining ids. */
  #removeOld(): string[] {
    const ids = this.#ids();
    const oldest = this.now() - MAX_AGE_MS;
    for (const id of ids) if (readCreationTime(id) < oldest) this.remove(id);
    return ids.filter((id) => readCreationTime(id) >= oldest);
  }

  #draft(draft: NewEntry, digest: string): Entry {
    const id = `${this.now().toString(36)}-${digest}-${randomBytes(3).toString('hex')}`;
    const created_at = new Date(this.now()).toISOString();
    return { id, idempotency_key: crypto.randomUUID(), created_at, owner: this.identity, ...draft };
  }

  /** Updates an entry. Other processes may change other fields of it at the same time. */
  async change(id: string, change: Partial<Entry>): Promise<void> {
    const write = () => {
      const changed = this.#applyChange(id, change);
      if (changed) this.#write(changed);
    };
    // Most polls change nothing.
    if (this.#applyChange(id, change)) {
      const { withLock } = await import('../../disk/lock.js');
      // The id of a paid task matters more than a change of another process at the same time.
      await withLock(`${this.#folder}.lock`, this.maxWaitMs, write).catch(write);
    }
    if (change.task_id !== undefined) this.#byTask?.set(change.task_id, id);
  }

  /** The changed entry; undefined if it does not exist, or is like that already. */
  #applyChange(id: string, change: Partial<Entry>): Entry | undefined {
    const entry = this.read(id);
    const changed = entry && { ...entry, ...change };
    return JSON.stringify(changed) === JSON.stringify(entry) ? undefined : changed;
  }

  /** Removes an entry, for example if its request was refused. */
  remove(id: string): void {
    rmSync(this.#path(id), { force: true });
  }

  find(id: string): Entry | undefined {
    const local = LOCAL_ID.test(id) ? this.read(id) : undefined;
    if (local) return local;
    // Of several entries of a task, the newest counts.
    this.#byTask ??= new Map(
      [...this.entries()]
        .reverse()
        .flatMap(({ id, task_id }) => (task_id === undefined ? [] : [[task_id, id]])),
    );
    const known = this.#byTask.get(id);
    return known === undefined ? undefined : this.read(known);
  }

  /** Yields all entries, newest first. */
  *entries(): Generator<Entry> {
    for (const id of this.#ids()) {
      const entry = this.read(id);
      if (entry) yield entry;
    }
  }

  read(id: string): Entry | undefined {
    try {
      const entry = JSON.parse(readPrivateFile(this.#path(id)) ?? '') as Entry | null;
      return entry?.id === id && typeof entry.operation === 'string' ? entry : undefined;
    } catch (error) {
      // The file was just removed, or is not a ledger entry.
      if (error instanceof SyntaxError) return undefined;
      throw error;
    }
  }

  #write(entry: Entry): void {
    writePrivateFile(this.#path(entry.id), `${JSON.stringify(entry, null, 1)}\n`);
  }

  #path(id: string): string {
    return join(this.#folder, `${id}.json`);
  }

  #ids(): string[] {
    try {
      const names = readdirSync(this.#folder).filter((name) => name.endsWith('.json'));
      const ids = names.map((name) => name.slice(0, -'.json'.length)).filter((id) => LOCAL_ID.test(id));
      return ids.sort().reverse();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
      throw error;
    }
  }
}

function isOwn(owner: ProcessIdentity, identity: ProcessIdentity): boolean {
  return owner.pid === identity.pid && owner.host === identity.host && owner.started === identity.started;
}

function groupBy<Item>(items: Iterable<Item>, toKey: (item: Item) => string): Map<string, Item[]> {
  const found = new Map<string, Item[]>();
  for (const item of items) {
    const same = found.get(toKey(item)) ?? [];
    same.push(item);
    found.set(toKey(item), same);
  }
  return found;
}

/** Reads the creation time, in milliseconds since 1970, from a local id. */
function readCreationTime(id: string): number {
  return Number.parseInt(id, 36);
}

function readDigest(id: string): string {
  return id.split('-')[1] as string;
}

/**
 * Computes a digest that is equal for equal requests. Images count by content and path, because results are named after
 * their files. The URL of a video with an id does not count, because every lookup signs a new one.
 */
function computeDigest({ service, profile, operation, request }: NewEntry): string {
  const body = Object.entries(request)
    .filter(([name]) => name !== 'video_url' || request.video_creation_id === undefined)
    .map(([name, value]) => [name, Array.isArray(value) ? value.map(summarizeValue) : summarizeValue(value)])
    .sort(([one], [other]) => ((one as string) < (other as string) ? -1 : 1));
  const text = JSON.stringify([service, operation, body, ...(profile === undefined ? [] : [profile])]);
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}

function summarizeValue(value: unknown): unknown {
  return isImageReference(value) ? [value.sha256, value.file] : value;
}
