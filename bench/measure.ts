import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

/** What one run cost. Only the figures that the case compares are set. */
export interface Sample {
  readonly wallMs?: number;
  /** User and system time. */
  readonly cpuMs?: number;
  /** Of a file. */
  readonly bytes?: number;
  /** Resident memory in bytes, at its most or at rest. */
  readonly memory?: number;
  readonly perSecond?: number;
}

export type Figure = keyof Sample;

/** A subject and its peer, run in turns. */
export interface Case {
  readonly name: string;
  readonly peer: string;
  /** The ratio to keep for each figure: at most this, or at least this where more is better (`perSecond`). */
  readonly bars: Readonly<Partial<Record<Figure, number>>>;
  /** How many pairs are measured; the first pair is dropped besides. */
  readonly rounds: number;
  /** Left out of `--quick`. */
  readonly slow?: boolean;
  /** Makes what both sides need, and says why where the peer is not on this machine. */
  prepare(scratch: string): Promise<Prepared | { readonly missing: string }>;
}

export interface Prepared {
  runSubject(): Promise<Sample> | Sample;
  runPeer(): Promise<Sample> | Sample;
  stop?(): Promise<void> | void;
}

export interface Result {
  readonly figure: Figure;
  readonly bar: number;
  /** Sorted. */
  readonly ratios: readonly number[];
  readonly subject: number;
  readonly peer: number;
}

/** Runs both sides in turns, each first as often as second, and compares the pairs. */
export async function measureCase(
  { bars, rounds }: Case,
  { runSubject, runPeer }: Prepared,
  quick: boolean,
): Promise<Result[]> {
  const pairs: [Sample, Sample][] = [];
  for (let round = 0; round <= (quick ? Math.min(rounds, 5) : rounds); round++) {
    const peerFirst = round % 2 === 1 ? await runPeer() : undefined;
    const subject = await runSubject();
    const peer = peerFirst ?? (await runPeer());
    if (round > 0) pairs.push([subject, peer]);
  }
  return (Object.entries(bars) as [Figure, number][]).map(([figure, bar]) => {
    const subjects = pairs.map(([subject]) => subject[figure] as number);
    const peers = pairs.map(([, peer]) => peer[figure] as number);
    const ratios = subjects.map((subject, at) => subject / (peers[at] as number)).sort((a, b) => a - b);
    return { figure, bar, ratios, subject: findMedian(subjects), peer: findMedian(peers) };
  });
}

export function findMedian(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] as number;
}

interface CommandOptions {
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  /** Default: none. */
  readonly input?: string;
}

/**
 * Runs a command to its end. bash reads the times, because Node does not tell what a child used.
 * @throws Error when the command fails
 */
export function measureCommand(
  command: readonly string[],
  { env = process.env, cwd, input = '' }: CommandOptions = {},
): Sample {
  const script = 'TIMEFORMAT="%R %U %S"; time "$@" >/dev/null 2>&3';
  const { NODE_EXTRA_CA_CERTS: _, ...environment } = env;
  const { status, stderr, output } = spawnSync('bash', ['-c', script, 'bash', ...command], {
    env: { ...environment, LC_ALL: 'C' },
    cwd,
    input,
    encoding: 'utf8',
    stdio: ['pipe', 'ignore', 'pipe', 'pipe'],
    timeout: 5 * 60_000,
  });
  if (status !== 0) throw new Error(`${command.join(' ')} ended with ${status}: ${output[3]?.slice(-500)}`);
  const [wall, user, system] = stderr.trim().split(' ').map(Number) as [number, number, number];
  return { wallMs: wall * 1000, cpuMs: (user + system) * 1000 };
}

export async function measureWall(work: () => Promise<unknown>): Promise<Sample> {
  const before = performance.now();
  await work();
  return { wallMs: performance.now() - before };
}

/**
 * User and system time of a running process and all below it so far, ended ones included, in ms (Linux, steps of 10 ms).
 */
export function readCpuMs(pid: number): number {
  return listFamily(pid).reduce((sum, { ticks }) => sum + ticks * 10, 0);
}

/** The processes below one, and itself. */
function listFamily(pid: number): { readonly ticks: number }[] {
  const all = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => readStat(Number(name)) ?? []);
  const family = new Set([pid]);
  // A child may have a lower number than its parent.
  for (let size = 0; size < family.size; ) {
    size = family.size;
    for (const one of all) if (family.has(one.parent)) family.add(one.pid);
  }
  return all.filter((one) => family.has(one.pid));
}

function readStat(pid: number) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    return {
      pid,
      parent: fields[1] as number,
      ticks: fields.slice(11, 15).reduce((sum, ticks) => sum + ticks, 0),
    };
  } catch {
    return undefined;
  }
}

/** Resident memory of a running process, now or at its most, in bytes (Linux). */
export function readMemory(pid: number, field: 'VmRSS' | 'VmHWM' = 'VmRSS'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1]) * 1024;
}
