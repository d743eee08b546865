import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { copyFile, link, rm } from 'node:fs/promises';
import { dirname, extname, join, resolve } from 'node:path';
import type { Client } from '../../client/client.js';
import { hasCode } from '../../contract/has-code.js';
import { RESULT_TYPES, readFileType } from '../../disk/file-type.js';
import { createFile, createPartPath } from '../../disk/part-file.js';
import { checkDigest, computeSha256 } from '../digest.js';
import { FlowError } from '../flow-error.js';
import { isFile, isFolder, type Saved, sanitizeName, saveFile, toExistsError } from '../save-file.js';

interface PatternValues {
  readonly name: string;
  readonly task_id: string;
  /** The position among the outputs of one task, from 1. */
  readonly index: number;
}

export interface SaveOptions {
  /** Overwrites existing files. */
  readonly force: boolean;
  /** Writes a receipt beside each file. */
  readonly receipt: boolean;
  /** The command may have been killed after it saved a file: a file with the same bytes counts as saved. */
  readonly resumed?: boolean;
  /** The paths that the tasks of a command have in a folder: each has its own, also where `force` overwrites. */
  readonly claimed?: Set<string>;
}

const RECEIPT_ENDING = '.receipt.json';
/** The limit of file systems. */
const MAX_NAME_BYTES = 255;
/** As long as the id of a task. */
const UUID = '00000000-0000-0000-0000-000000000000';
const PLACEHOLDER = /\{(\w+)\}/g;
const PLACEHOLDER_NAMES = ['name', 'n', 'task_id', 'index', 'ext'];

/** A second name of a file, or a copy on file systems without links. */
async function duplicate(from: string, to: string): Promise<void> {
  await link(from, to).catch(() => copyFile(from, to));
}

/** Where results are saved: a file, a folder or a pattern. */
export class Destination {
  readonly #pattern: string;
  /** Set for a folder: the pattern of names that are taken otherwise. */
  readonly #uniquePattern: string | undefined;

  constructor(
    readonly cwd: string,
    readonly given: string,
    readonly how: SaveOptions,
  ) {
    const unknown = [...given.matchAll(PLACEHOLDER)]
      .map(([, word]) => word as string)
      .find((word) => !PLACEHOLDER_NAMES.includes(word));
    if (unknown !== undefined) {
      throw new FlowError('unknown_placeholder', `Unknown placeholder {${unknown}} in the output path.`, {
        subject: PLACEHOLDER_NAMES.map((word) => `{${word}}`).join(', '),
      });
    }
    const folder = given.endsWith('/') || given.endsWith('\\') || isFolder(resolve(cwd, given));
    // Decided: in a folder, a file is named after the image, and after its task as well where that name is taken.
    this.#pattern = folder ? join(given, '{name}.{ext}') : given;
    this.#uniquePattern = folder ? join(given, '{name}-{task_id}.{ext}') : undefined;
  }

  /** The place of one of several tasks: `{n}` is its number, from 1. */
  at(number: number): Destination {
    return new Destination(this.cwd, this.given.replaceAll('{n}', String(number)), this.how);
  }

  /**
   * Refuses results that could not be saved, before they are paid for.
   * @param names the value of `{name}` for each task
   * @param isOurs whether an earlier run of the same command may have saved the file at a path
   */
  check(names: readonly string[], isOurs: (path: string) => boolean = () => false): void {
    const paths = names.flatMap((name, index) => this.at(index + 1).firstPath(name) ?? []);
    if (new Set(paths).size < paths.length) {
      throw new FlowError('same_output', 'The output path would save several results under the same name.');
    }
    if (this.how.force) return;
    for (const path of paths) {
      const taken = listResultPaths(path).find((one) => existsSync(one));
      if (taken !== undefined && !isOurs(path)) throw toExistsError(taken);
    }
  }

  #requireShortNames(name: string): void {
    const path = this.#path({ name, task_id: UUID, index: 1 }, 'webp', this.#uniquePattern);
    const names = (this.how.receipt ? `${path}${RECEIPT_ENDING}` : path).split(/[/\\]/);
    if (names.every((one) => Buffer.byteLength(one) <= MAX_NAME_BYTES)) return;
    throw new FlowError('usage', 'A name in the output path is too long for the file system.');
  }

  /**
   * The path of the first result, except for its {ext}; `undefined` if the path may contain the task id.
   * @throws FlowError if no file can have it
   */
  firstPath(name: string): string | undefined {
    this.#requireShortNames(name);
    if (this.#uniquePattern || this.#pattern.includes('{task_id}')) return undefined;
    return this.#path({ name, task_id: '', index: 1 }, '{ext}');
  }

  /** Downloads one result. It gets its name when it is complete. */
  async save(client: Client, url: string, facts: PatternValues, signal: AbortSignal): Promise<Saved> {
    const folder = dirname(this.#path(facts, 'part'));
    mkdirSync(folder, { recursive: true });
    const fetched = createPartPath(folder);
    try {
      const { headers, bytes } = await client.download(url, {
        to: await createFile(fetched),
        signal,
      });
      const sha256 = await computeSha256(fetched);
      checkDigest(headers['repr-digest'], sha256);
      const type = await readFileType(fetched);
      const ext = type?.ext ?? chooseExtension(headers['content-type'], url);
      const path = await this.#place(fetched, facts, ext, sha256);
      return { path, bytes, sha256, ...(type && { mediaType: type.mediaType }) };
    } finally {
      await rm(fetched, { force: true });
    }
  }

  /**
   * Writes a receipt beside a saved file.
   * @returns its path
   */
  async writeReceipt({ path }: Saved, receipt: object): Promise<string> {
    const beside = path + RECEIPT_ENDING;
    const text = `${JSON.stringify(receipt, null, 2)}\n`;
    if (await this.#isThere(beside, createHash('sha256').update(text).digest('hex'))) return beside;
    await saveFile(beside, this.how.force, async (temporary) =>
      writeFileSync(temporary, text, { flag: 'wx' }),
    );
    return beside;
  }

  /** Gives a complete file its name. @returns its path */
  async #place(fetched: string, facts: PatternValues, ext: string, sha256: string): Promise<string> {
    const path = await this.#choosePath(facts, ext, sha256);
    if (await this.#isThere(path, sha256)) return path;
    try {
      await saveFile(path, this.how.force, (temporary) => duplicate(fetched, temporary));
      return path;
    } catch (error) {
      const unique = this.#uniquePattern && this.#path(facts, ext, this.#uniquePattern);
      if (unique === undefined || unique === path || !hasCode(error, 'file_exists')) throw error;
      // Another process took the name since it was chosen.
      await saveFile(unique, this.how.force, (temporary) => duplicate(fetched, temporary));
      return unique;
    }
  }

  /** Chooses the name of a result: in a folder, one that no other file has. */
  async #choosePath(facts: PatternValues, ext: string, sha256: string): Promise<string> {
    const path = this.#path(facts, ext);
    if (!this.#uniquePattern) return path;
    const { force, claimed = new Set() } = this.how;
    const isFree = force || !existsSync(path) || (await this.#isThere(path, sha256));
    if (!isFree || claimed.has(path)) return this.#path(facts, ext, this.#uniquePattern);
    claimed.add(path);
    return path;
  }

  async #isThere(path: string, sha256: string): Promise<boolean> {
    const { resumed, force } = this.how;
    return resumed === true && !force && isFile(path) && (await computeSha256(path)) === sha256;
  }

  #path({ name, task_id, index }: PatternValues, ext: string, pattern = this.#pattern): string {
    const values: Record<string, string> = {
      name: sanitizeName(name),
      n: '1',
      task_id: sanitizeName(task_id),
      index: String(index),
      ext,
    };
    const path = pattern.replace(PLACEHOLDER, (_, word: string) => values[word] as string);
    if (index === 1 || pattern.includes('{index}')) return resolve(this.cwd, path);
    const ending = extname(path);
    return resolve(this.cwd, `${path.slice(0, path.length - ending.length)}-${index}${ending}`);
  }
}

/** For bytes of an unknown type: uses the content type, else the extension in the URL. */
function chooseExtension(contentType: string | undefined, url: string): string {
  const declared = /^(?:image|video)\/([a-z0-9]{2,5})\b/i.exec(contentType ?? '')?.[1]?.toLowerCase();
  const inUrl = /\.([a-z0-9]{2,5})$/i.exec(new URL(url).pathname)?.[1]?.toLowerCase();
  return declared ?? inUrl ?? 'bin';
}

/** A file of any type that results may have is in the way of a pattern with {ext}. */
function listResultPaths(path: string): string[] {
  return path.includes('{ext}') ? RESULT_TYPES.map(({ ext }) => path.replaceAll('{ext}', ext)) : [path];
}
