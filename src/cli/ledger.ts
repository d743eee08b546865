import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { readPrivateFile, writePrivateFile } from '../disk/private-file.js';

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
}

export type Draft = Pick<Entry, 'service' | 'operation' | 'request' | 'name'>;

const localId = /^[a-z0-9]+-[a-f0-9]+-[a-f0-9]+$/;

// Decided: a request that was never answered is repeated under its key for 24 hours.
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
  /** By digest, what earlier processes asked for and never heard of. */
  readonly #unanswered = new Map<string, Entry[]>();
  /** Local ids by remote ones; read once, because a command may be given many. */
  #byTask: Map<string, string> | undefined;

  constructor(
    stateFolder: string,
    readonly now: () => number,
  ) {
    this.#folder = join(stateFolder, 'tasks');
  }

  /**
   * The entry for a request that is about to be sent: a new one, or that of the same request whose answer was never
   * recorded. It is on disk when this returns.
   * @param known the entry of this very request, where one was made for it before
   */
  open(
    draft: Draft,
    known?: string,
  ): {
    readonly entry: Entry;
    readonly repeats: boolean;
    readonly stale: Entry | undefined;
  } {
    const digest = digestOf(draft);
    const unanswered = [
      ...this.#unansweredAt(known, digest),
      ...this.#unansweredLike(digest).filter(({ id }) => !this.#claimed.has(id)),
    ];
    const repeated = unanswered.find(({ created_at }) => this.now() - Date.parse(created_at) < repeatMs);
    const entry = repeated ?? this.#draft(draft, digest);
    this.#claimed.add(entry.id);
    if (!repeated) this.#write(entry);
    return { entry, repeats: repeated !== undefined, stale: repeated ? undefined : unanswered[0] };
  }

  /** Keeps entries for who knows them: no other request of this process takes one of them for its own. */
  claim(ids: Iterable<string>): void {
    for (const id of ids) this.#claimed.add(id);
  }

  #unansweredAt(id: string | undefined, digest: string): Entry[] {
    const entry = id !== undefined && digestIn(id) === digest ? this.read(id) : undefined;
    return entry && entry.task_id === undefined ? [entry] : [];
  }

  #unansweredLike(digest: string): readonly Entry[] {
    const found = this.#unanswered.get(digest) ?? this.#readUnanswered(digest);
    this.#unanswered.set(digest, found);
    return found;
  }

  #readUnanswered(digest: string): Entry[] {
    this.#byDigest ??= byDigest(this.#forgetOld());
    const entries = (this.#byDigest.get(digest) ?? []).flatMap((id) => this.read(id) ?? []);
    return entries.filter(({ task_id }) => task_id === undefined);
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
    return { id, idempotency_key: crypto.randomUUID(), created_at, ...draft };
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
function digestOf({ service, operation, request }: Draft): string {
  const body = Object.entries(request)
    .filter(([name]) => name !== 'video_url' || request.video_creation_id === undefined)
    .map(([name, value]) => [name, Array.isArray(value) ? value.map(content) : content(value)])
    .sort(([one], [other]) => ((one as string) < (other as string) ? -1 : 1));
  const text = JSON.stringify([service, operation, body]);
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}

function content(value: unknown): unknown {
  return isImageReference(value) ? value.sha256 : value;
}

export function isImageReference(value: unknown): value is ImageReference {
  const { sha256, bytes } = (value ?? {}) as Partial<ImageReference>;
  return typeof value === 'object' && typeof sha256 === 'string' && typeof bytes === 'number';
}
