import { createHash } from 'node:crypto';
import {
  closeSync,
  createWriteStream,
  existsSync,
  mkdirSync,
  openSync,
  readSync,
  writeFileSync,
} from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { dirname, extname, join, resolve } from 'node:path';
import type { Client } from '../../client/client.js';
import { createPartPath } from '../../disk/part-file.js';
import type { FlagValues } from '../command/command.js';
import { checkDigest, computeSha256 } from '../terminal/digest.js';
import { usage } from '../terminal/failure.js';
import { isFile, isFolder, sanitizeName, saveFile, toExistsFailure } from '../terminal/save.js';
import { detectFileType } from './file-type.js';

/** What the placeholders of a pattern stand for. */
interface Facts {
  readonly name: string;
  readonly task_id: string;
  /** Of the outputs of one task, from 1. */
  readonly index: number;
}

export interface Saved {
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** How results are saved. */
export interface SaveOptions {
  /** Over existing files. */
  readonly force: boolean;
  /** With a receipt beside each. */
  readonly receipt: boolean;
  /** A command that may have been killed after it saved them: where the same bytes lie, they are saved. */
  readonly resumed?: boolean;
}

const placeholder = /\{(\w+)\}/g;
const known = ['name', 'task_id', 'index', 'ext'];

/** Where results are saved: `--output <file|folder/|pattern>`. */
export class Destination {
  readonly #pattern: string;

  constructor(
    readonly cwd: string,
    given: string,
    readonly how: SaveOptions,
  ) {
    const odd = [...given.matchAll(placeholder)]
      .map(([, word]) => word as string)
      .find((word) => !known.includes(word));
    if (odd !== undefined) {
      throw usage(
        `--output knows no {${odd}}.`,
        `A pattern may hold ${known.map((word) => `{${word}}`).join(', ')}.`,
      );
    }
    const folder = given.endsWith('/') || given.endsWith('\\') || isFolder(resolve(cwd, given));
    // Decided: in a folder, results are called after image and task, so that none is in another's way.
    this.#pattern = folder ? join(given, '{name}-{task_id}.{ext}') : given;
  }

  /**
   * Refuses, before anything is paid for, what could not be saved in the end.
   * @param names what `{name}` stands for, of every task
   * @param isOurs whether an earlier run of this very command may have left what lies at a path
   */
  check(names: readonly string[], isOurs: (path: string) => boolean = () => false): void {
    const paths = names.flatMap((name) => this.firstPath(name) ?? []);
    if (new Set(paths).size < paths.length) {
      throw usage(
        '--output would save several results under one name.',
        'Name a folder/, or use {task_id} in the name.',
      );
    }
    const taken = this.how.force ? undefined : paths.find((path) => existsSync(path) && !isOurs(path));
    if (taken !== undefined) throw toExistsFailure(taken);
  }

  /** Where a first result will lie, its {ext} left open; `undefined` where only the task's id tells. */
  firstPath(name: string): string | undefined {
    if (this.#pattern.includes('{task_id}')) return undefined;
    return this.#path({ name, task_id: '', index: 1 }, '{ext}');
  }

  /** Fetches one result. It has its name only once it is whole. */
  async save(client: Client, url: string, facts: Facts, signal: AbortSignal): Promise<Saved> {
    const folder = dirname(this.#path(facts, 'part'));
    mkdirSync(folder, { recursive: true });
    const fetched = createPartPath(folder);
    try {
      const { headers, bytes } = await client.download(url, {
        to: createWriteStream(fetched, { flags: 'wx' }),
        signal,
      });
      const sha256 = await computeSha256(fetched);
      checkDigest(headers['repr-digest'], sha256);
      const path = this.#path(facts, chooseExtension(fetched, headers['content-type'], url));
      if (!(await this.#isThere(path, sha256))) {
        await saveFile(path, this.how.force, (temporary) => rename(fetched, temporary));
      }
      return { path, bytes, sha256 };
    } finally {
      await rm(fetched, { force: true });
    }
  }

  /** Writes a receipt beside a saved file, and gives its path. */
  async writeReceipt({ path }: Saved, receipt: object): Promise<string> {
    const beside = `${path}.receipt.json`;
    const text = `${JSON.stringify(receipt, null, 2)}\n`;
    if (await this.#isThere(beside, createHash('sha256').update(text).digest('hex'))) return beside;
    await saveFile(beside, this.how.force, async (temporary) =>
      writeFileSync(temporary, text, { flag: 'wx' }),
    );
    return beside;
  }

  async #isThere(path: string, sha256: string): Promise<boolean> {
    return this.how.resumed === true && isFile(path) && (await computeSha256(path)) === sha256;
  }

  #path({ name, task_id, index }: Facts, ext: string): string {
    const values: Record<string, string> = {
      name: sanitizeName(name),
      task_id: sanitizeName(task_id),
      index: String(index),
      ext,
    };
    const path = this.#pattern.replace(placeholder, (_, word: string) => values[word] as string);
    if (index === 1 || this.#pattern.includes('{index}')) return resolve(this.cwd, path);
    const ending = extname(path);
    return resolve(this.cwd, `${path.slice(0, path.length - ending.length)}-${index}${ending}`);
  }
}

/** The destination that a command's flags name; `--receipt` and `--force` alone mean nothing. */
export function openDestination(cwd: string, flags: FlagValues, resumed = false): Destination | undefined {
  const { output, force, receipt } = flags;
  const how = { force: force === true, receipt: receipt === true, resumed };
  if (typeof output === 'string') return new Destination(cwd, output, how);
  const alone = ['receipt', 'force'].find((flag) => flags[flag]);
  if (alone) throw usage(`--${alone} needs --output: without it nothing is saved.`);
  return undefined;
}

/** What the bytes are, else what the service says they are, else what the URL ends in. */
function chooseExtension(path: string, contentType: string | undefined, url: string): string {
  const head = Buffer.alloc(16);
  const file = openSync(path, 'r');
  readSync(file, head, 0, 16, 0);
  closeSync(file);
  const said = /^(?:image|video)\/([a-z0-9]{2,5})\b/i.exec(contentType ?? '')?.[1]?.toLowerCase();
  const written = /\.([a-z0-9]{2,5})$/i.exec(new URL(url).pathname)?.[1]?.toLowerCase();
  return detectFileType(head)?.ext ?? said ?? written ?? 'bin';
}
