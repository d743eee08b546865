import { KeptChild } from '../disk/kept-child.js';
import { ChildInterrupted } from '../disk/limited-child.js';
import type { ArchiveLimits, Inspection } from '../pack/read-archive.js';
import { type CodeReport, type CodeSelection, NOT_FOLLOWED } from './code-report.js';
import {
  type CodeFile,
  type CpuBudget,
  PackTooMuch,
  type ReaderLimits,
  type ReaderTask,
  Reading,
  toChildOptions,
} from './reader-child.js';
import { createUnreadFinding } from './scan/finding.js';

/** What an archive and its code say. Without its files: the names of 50,000 would fill the memory of a service. */
export type PackInspection =
  | {
      readonly ok: true;
      readonly tree: string;
      readonly readme?: string | undefined;
      readonly code?: CodeReport;
    }
  | Extract<Inspection, { ok: false }>;

export interface PackReaderOptions {
  readonly limits?: Partial<ReaderLimits>;
  /** How long a process waits for the next pack. */
  readonly idleMs?: number;
}

const DEFAULT_LIMITS: ReaderLimits = {
  heapMb: 128,
  residentBytes: 512 * 1024 * 1024,
  stepCpuMs: 10_000,
  totalCpuMs: 20_000,
  stalledMs: 10 * 60_000,
};

/** Far more than most published packs take. */
export const QUICK_LIMITS: Partial<ReaderLimits> = { packCpuMs: 2_000, residentBytes: 256 * 1024 * 1024 };

/** How often reading is tried again without the definitions, each time without the file that was too much. */
const MAX_SCANS = 3;

/**
 * Reads packs in a process of their own, which has limits for memory and CPU time. What exceeds them is left out: the
 * definitions first, then one file or another, and that is a finding. The process is kept for the next pack, because
 * starting it takes longer than reading most packs; a pack that makes it fail takes it down, and no other pack with it.
 */
export class PackReader {
  readonly #limits: ReaderLimits;
  readonly #child: KeptChild;
  /** Ends when all that was asked for is read: one pack at a time. */
  #last: Promise<unknown> = Promise.resolve();

  constructor({ limits, idleMs }: PackReaderOptions = {}) {
    this.#limits = { ...DEFAULT_LIMITS, ...limits };
    this.#child = new KeptChild(toChildOptions(this.#limits), idleMs);
  }

  /**
   * Reads the code of files on disk.
   * @throws ChildInterrupted where the process was ended from outside; the system's error where a file cannot be read
   */
  async readCode(files: Iterable<CodeFile>, signal?: AbortSignal): Promise<CodeReport> {
    const plain = Array.from(files, ({ path, absolute, size }) => ({ path, absolute, size }));
    const task = (reading: CodeSelection) => ({ kind: 'code', files: plain, reading }) as const;
    const read = await this.#enqueue(() => this.#readWithinLimits<CodeReport>(task, signal));
    return read instanceof PackTooMuch ? reportUnread(read) : read;
  }

  /**
   * Inspects an archive once.
   * @returns undefined if it takes more than the reader may have, or its process was ended from outside
   * @throws the system's error where the archive cannot be read; the reason of `signal`
   */
  async tryArchive(
    path: string,
    archiveLimits: ArchiveLimits,
    signal?: AbortSignal,
  ): Promise<PackInspection | undefined> {
    const reading = { follow: true, unread: {} };
    const task = { kind: 'archive', path, limits: { ...archiveLimits }, reading } as const;
    const budget = { left: this.#limits.totalCpuMs };
    return this.#enqueue(() => this.#run<PackInspection>(task, budget, signal)).catch((error) => {
      if (error instanceof PackTooMuch || error instanceof ChildInterrupted) return undefined;
      throw error;
    });
  }

  /**
   * Inspects an archive, with the definitions and findings of a sound one.
   * @throws ChildInterrupted where the process was ended from outside; the system's error where the archive cannot be
   * read; the reason of `signal`
   */
  async inspectArchive(
    path: string,
    archiveLimits: ArchiveLimits,
    signal?: AbortSignal,
  ): Promise<PackInspection> {
    const archive = { kind: 'archive', path, limits: { ...archiveLimits } } as const;
    const task = (reading: CodeSelection) => ({ ...archive, reading });
    const read = await this.#enqueue(() => this.#readWithinLimits<PackInspection>(task, signal));
    return read instanceof PackTooMuch ? this.#inspectWithoutCode(path, archiveLimits, read, signal) : read;
  }

  /** Inspects an archive whose code could not be read, for the given reason. */
  async #inspectWithoutCode(
    path: string,
    archiveLimits: ArchiveLimits,
    why: PackTooMuch,
    signal?: AbortSignal,
  ): Promise<PackInspection> {
    const task = { kind: 'archive', path, limits: { ...archiveLimits } } as const;
    const budget = { left: this.#limits.totalCpuMs };
    const inspection = await this.#enqueue(() => this.#run<PackInspection>(task, budget, signal)).catch(
      (error) => {
        if (!(error instanceof PackTooMuch)) throw error;
        return { ok: false, reason: `The archive cannot be checked: ${error.reason}.` } as const;
      },
    );
    return inspection.ok ? { ...inspection, code: reportUnread(why) } : inspection;
  }

  /** Ends the process, and with it what is being read. */
  async close(): Promise<void> {
    await this.#child.close(new Error('The reader of packs is closed.'));
    await this.#last;
  }

  #enqueue<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => undefined);
    return result;
  }

  async #readWithinLimits<Result>(
    taskFor: (reading: CodeSelection) => ReaderTask,
    signal: AbortSignal | undefined,
  ): Promise<Result | PackTooMuch> {
    const attempt = (reading: CodeSelection, budget: CpuBudget) =>
      this.#run<Result>(taskFor(reading), budget, signal).catch((error) => {
        if (error instanceof PackTooMuch) return error;
        throw error;
      });
    const first = await attempt({ follow: true, unread: {} }, { left: this.#limits.totalCpuMs });
    if (!(first instanceof PackTooMuch)) return first;
    const unread: Record<string, string> = {};
    const budget = { left: this.#limits.totalCpuMs };
    let last = first;
    for (let scan = 0; scan < MAX_SCANS; scan++) {
      const read = await attempt({ follow: false, unread }, budget);
      if (!(read instanceof PackTooMuch)) return read;
      last = read;
      if (read.at === undefined) break;
      unread[read.at] = read.reason;
    }
    return last;
  }

  async #run<Result>(task: ReaderTask, budget: CpuBudget, signal: AbortSignal | undefined): Promise<Result> {
    const { left } = budget;
    const read = (): Reading<Result> => {
      budget.left = left;
      return new Reading(task, { limits: this.#limits, budget, signal });
    };
    return await this.#child.run(read);
  }
}

function reportUnread({
  at,
  reason,
}: {
  readonly reason: string;
  readonly at?: string | undefined;
}): CodeReport {
  return { ...NOT_FOLLOWED, unreadable: [], findings: [createUnreadFinding(at ?? '__init__.py', reason)] };
}

/**
 * Reads the code of one pack in a process of its own.
 * @throws ChildInterrupted where the process was ended from outside; the system's error where a file cannot be read
 */
export async function readCodeApart(
  files: Iterable<CodeFile>,
  limits: Partial<ReaderLimits> = {},
): Promise<CodeReport> {
  const reader = new PackReader({ limits });
  try {
    return await reader.readCode(files);
  } finally {
    await reader.close();
  }
}
