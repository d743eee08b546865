import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** What one run cost. Only the fields that the case compares are set. */
export interface Sample {
  readonly wallMs?: number;
  /** User and system time. */
  readonly cpuMs?: number;
  readonly bytes?: number;
  readonly perSecond?: number;
}

/** One row of the table: a subject and its peer, run in turns, compared by one figure. */
export interface Case {
  readonly name: string;
  readonly peer: string;
  readonly compares: keyof Sample;
  /** The ratio to keep: at most this, or at least this where more is better (`perSecond`). */
  readonly bar: number;
  /** How many pairs are measured; the first pair is dropped besides. */
  readonly rounds: number;
  /** Left out of `--quick`. */
  readonly slow?: boolean;
  /** Makes what both sides need, and says why where the peer is not on this machine. */
  prepare(scratch: string): Promise<Prepared | { readonly missing: string }>;
}

export interface Prepared {
  runSubject(): Promise<Sample>;
  runPeer(): Promise<Sample>;
  stop?(): Promise<void>;
}

export interface Result {
  readonly ratios: readonly number[];
  readonly subject: number;
  readonly peer: number;
}

/** Runs both sides in turns, each first as often as second, and compares the pairs. */
export async function measureCase(
  { compares, rounds }: Case,
  { runSubject, runPeer }: Prepared,
  quick: boolean,
): Promise<Result> {
  const pairs: [number, number][] = [];
  for (let round = 0; round <= (quick ? Math.min(rounds, 5) : rounds); round++) {
    const peerFirst = round % 2 === 1 ? (await runPeer())[compares] : undefined;
    const subject = (await runSubject())[compares];
    const peer = peerFirst ?? (await runPeer())[compares];
    if (round > 0) pairs.push([subject as number, peer as number]);
  }
  return {
    ratios: pairs.map(([subject, peer]) => subject / peer).sort((a, b) => a - b),
    subject: findMedian(pairs.map(([subject]) => subject)),
    peer: findMedian(pairs.map(([, peer]) => peer)),
  };
}

export function findMedian(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] as number;
}

/**
 * Runs a command to its end. bash reads the times, because Node does not tell what a child used.
 * @throws Error when the command ends with another exit code.
 */
export function measureCommand(
  command: readonly string[],
  { env = process.env, cwd, exitCode = 0 }: { env?: NodeJS.ProcessEnv; cwd?: string; exitCode?: number } = {},
): Sample {
  const script = 'TIMEFORMAT="%R %U %S"; time "$@" >/dev/null 2>/dev/null';
  const { NODE_EXTRA_CA_CERTS: _, ...environment } = env;
  const { status, stderr } = spawnSync('bash', ['-c', script, 'bash', ...command], {
    env: { ...environment, LC_ALL: 'C' },
    cwd,
    encoding: 'utf8',
  });
  if (status !== exitCode) throw new Error(`${command.join(' ')} ended with ${status}`);
  const [wall, user, system] = stderr.trim().split(' ').map(Number) as [number, number, number];
  return { wallMs: wall * 1000, cpuMs: (user + system) * 1000 };
}

/** User and system time of a running process so far, its ended children included, in ms (Linux, steps of 10 ms). */
export function readCpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks) * 10, 0);
}

/** Resident memory of a running process, in bytes (Linux). */
export function readMemory(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;
}
