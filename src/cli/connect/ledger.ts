import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { readPrivateFile, writePrivateFile } from '../../disk/private-file.js';
import { isGone, type ProcessIdentity } from '../../disk/process-identity.js';

/** An image of a request as the ledger keeps it: where it lay and what it was, not its megabytes. */
export interface ImageReference {
  /** Absolute; absent where the image was piped in or typed. */
  readonly file?: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** One task that was started here, or is about to be. */
export interface Entry {
  /** Local id; the task's own is not known before its start is answered. */
  readonly id: string;
  readonly idempotency_key: string;
  /** The service's address, or `local`. */
  readonly service: string;
  /** Such as `image.relight`. */
  readonly operation: string;
  /** The body that was sent; in place of an image's data stands an `ImageReference`. */
  readonly request: Readonly<Record<string, unknown>>;
  /** What `{name}` of a path stands for. */
  readonly name: string;
  readonly created_at: string;
  readonly task_id?: string;
  /** As it was last seen. */
  readonly state?: string;
  /** Output URLs, then paths they were saved at. */
  readonly outputs?: readonly string[];
  readonly saved?: readonly string[];
  /** As the service told them. */
  readonly credits?: number;
  readonly seed?: number;
  /** The process that works on it; absent in entries of older releases. */
  readonly owner?: ProcessIdentity;
  /** Where its results are to be saved, absolute and with {ext} left open; absent where only the task's id tells. */
  readonly output?: string;
  /** Its command has handed over what came of it: the same command then starts a new task. */
  readonly closed?: true;
  /** A job of a batch, whose own journal knows how to go on. */
  readonly batch?: true;
}

export type Draft = Pick<Entry, 'service' | 'operation' | 'request' | 'name'> &
  Partial<Pick<Entry, 'output' | 'batch'>>;

/** Which entry of the ledger a request may be. */
export type Choice =
  /** The one that was made for this very request before, or a new one. */
  | { readonly known: string | undefined }
  /** One that a process which has ended left unfinished, or a new one. */
  | 'unfinished'
  /** A new one, whatever was asked for before. */
  | 'new';

const localId = /^[a-z0-9]+-[a-f0-9]+-[a-f0-9]+$/;

// Decided: what an earlier run of a command left unfinished is taken up by the same command for 24 hours.
const repeatMs = 24 * 60 * 60_000;

// Decided: what was started more than 90 days ago is forgotten when something new is; no task runs that long.
const keptMs = 90 * 24 * 60 * 60_000;

/**
 * What this user started: one small file a task, its owner's alone, written whole or not at all. A local id begins
 * with its time and holds a digest of the request, so that a folder's names alone find the newest and the repeated.
 */
export class Ledger {
  readonly #folder: string;
  /** Entries whose request is under way in this process: the same image given twice is two tasks. */
  readonly #claimed = new Set<string>();
  /** Local ids by digest; listed once, because one process may start thousands. */
  #byDigest: Map<string, string[]> | undefined;
  /** By digest, what earlier processes left unfinished. */
  readonly #unfinished = new Map<string, Entry[]>();
  /** Local ids by remote ones; read once, because a command may be given many. */
  #byTask: Map<string, string> | undefined;

  constructor(
    stateFolder: string,
    readonly now: () => number,
    readonly identity: ProcessIdentity,
  ) {
    this.#folder = join(stateFolder, 'tasks');
  }

  /**
   * The entry for a request that is about to be sent. It is on disk, and this process's own, when this returns.
   * @returns the entry; whether an earlier process made it; and one that is too old to be taken up, if there is one
   */
  async open(
    draft: Draft,
    choice: Choice,
  ): Promise<{ readonly entry: Entry; readonly repeats: boolean; readonly stale: Entry | undefined }> {
    const digest = computeDigest(draft);
    const candidates = this.#candidates(digest, choice);
    const recent = candidates.filter(({ created_at }) => this.now() - Date.parse(created_at) < repeatMs);
    for (const { id } of recent) {
      const entry = await this.#takeOver(id, choice);
      if (entry) return { entry, repeats: true, stale: undefined };
    }
    const entry = this.#draft(draft, digest);
    this.#claimed.add(entry.id);
    this.#write(entry);
    return { entry, repeats: false, stale: candidates.find(({ task_id }) => task_id === undefined) };
  }

  /** Whether an earlier run left something unfinished that is to be saved at `output`. */
  isUnfinishedAt(output: string): boolean {
    for (const entry of this.entries()) {
      if (entry.output === output && this.#isUnfinished(entry)) return true;
    }
    return false;
  }

  /** Makes the entry this process's own, unless another process was quicker. */
  async #takeOver(id: string, choice: Choice): Promise<Entry | undefined> {
    this.#claimed.add(id);
    // Loaded only here: its native driver is not needed by most commands.
    const { withLock } = await import('../../disk/lock.js');
    return await withLock(`${this.#folder}.lock`, 10_000, () => {
      const entry = this.read(id);
      // Another process may have taken it over since, and even have ended with it.
      if (!entry || !(choice === 'unfinished' ? this.#isUnfinished(entry) : this.#isMine(entry)))
        return undefined;
      const own = { ...entry, owner: this.identity };
      this.#write(own);
      return own;
    });
  }

  #isMine({ owner }: Entry): boolean {
    return owner === undefined || isOwn(owner, this.identity) || isGone(owner);
  }

  #candidates(digest: string, choice: Choice): readonly Entry[] {
    if (choice === 'new') return [];
    if (choice === 'unfinished')
      return this.#unfinishedLike(digest).filter(({ id }) => !this.#claimed.has(id));
    const { known } = choice;
    const entry = known !== undefined && digestIn(known) === digest ? this.read(known) : undefined;
    return entry && entry.task_id === undefined ? [entry] : [];
  }

  #unfinishedLike(digest: string): readonly Entry[] {
    const found = this.#unfinished.get(digest) ?? this.#readUnfinished(digest);
    this.#unfinished.set(digest, found);
    return found;
  }

  #readUnfinished(digest: string): Entry[] {
    this.#byDigest ??= byDigest(this.#forgetOld());
    const entries = (this.#byDigest.get(digest) ?? []).flatMap((id) => this.read(id) ?? []);
    return entries.filter((entry) => this.#isUnfinished(entry));
  }

  #isUnfinished({ owner, closed, batch, task_id, state }: Entry): boolean {
    if (closed || batch || state === 'GONE') return false;
    // An older release took what was answered for finished.
    return owner === undefined ? task_id === undefined : isGone(owner);
  }

  /** Removes what nobody goes back to, by the names alone, and gives the ids that are left. */
  #forgetOld(): string[] {
    const ids = this.#ids();
    const oldest = this.now() - keptMs;
    for (const id of ids) if (begunAt(id) < oldest) this.remove(id);
    return ids.filter((id) => begunAt(id) >= oldest);
  }

  #draft(draft: Draft, digest: string): Entry {
    const id = `${this.now().toString(36)}-${digest}-${randomBytes(3).toString('hex')}`;
    const created_at = new Date(this.now()).toISOString();
    return { id, idempotency_key: crypto.randomUUID(), created_at, owner: this.identity, ...draft };
  }

  /** Writes what became known of an entry. */
  change(id: string, change: Partial<Entry>): void {
    const entry = this.read(id);
    if (!entry) return;
    const changed = { ...entry, ...change };
    // Most looks at a task tell nothing new.
    if (JSON.stringify(changed) !== JSON.stringify(entry)) this.#write(changed);
    if (change.task_id !== undefined) this.#byTask?.set(change.task_id, id);
  }

  /** Forgets a request that was refused: there is no task. */
  remove(id: string): void {
    rmSync(this.#path(id), { force: true });
  }

  /** The newest entry with this local or remote id. */
  find(id: string): Entry | undefined {
    const local = localId.test(id) ? this.read(id) : undefined;
    if (local) return local;
    this.#byTask ??= this.#tasks();
    const known = this.#byTask.get(id);
    return known === undefined ? undefined : this.read(known);
  }

  #tasks(): Map<string, string> {
    const byTask = new Map<string, string>();
    for (const { id, task_id } of this.entries()) {
      if (task_id !== undefined && !byTask.has(task_id)) byTask.set(task_id, id);
    }
    return byTask;
  }

  /** All, newest first. */
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
      // Removed meanwhile, or not one of ours.
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
      const ids = names.map((name) => name.slice(0, -'.json'.length)).filter((id) => localId.test(id));
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

function byDigest(ids: readonly string[]): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const id of ids) {
    const digest = digestIn(id);
    const same = found.get(digest);
    if (same) same.push(id);
    else found.set(digest, [id]);
  }
  return found;
}

/** When an entry was made, in milliseconds since 1970, as its local id tells. */
function begunAt(id: string): number {
  return Number.parseInt(id, 36);
}

/** The digest that is part of a local id. */
function digestIn(id: string): string {
  return id.split('-')[1] as string;
}

/**
 * The same for the same request: where an image lay makes no difference, what it holds does; nor does the URL of a
 * video that has an id, because it is signed anew whenever it is looked up.
 */
function computeDigest({ service, operation, request }: Draft): string {
  const body = Object.entries(request)
    .filter(([name]) => name !== 'video_url' || request.video_creation_id === undefined)
    .map(([name, value]) => [name, Array.isArray(value) ? value.map(summarizeValue) : summarizeValue(value)])
    .sort(([one], [other]) => ((one as string) < (other as string) ? -1 : 1));
  const text = JSON.stringify([service, operation, body]);
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}

function summarizeValue(value: unknown): unknown {
  return isImageReference(value) ? value.sha256 : value;
}

export function isImageReference(value: unknown): value is ImageReference {
  const { sha256, bytes } = (value ?? {}) as Partial<ImageReference>;
  return typeof value === 'object' && typeof sha256 === 'string' && typeof bytes === 'number';
}
