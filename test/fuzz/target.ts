import fc from 'fast-check';

/** One thing that is tried with generated cases. */
export interface Target<Case = unknown> {
  readonly cases: fc.Arbitrary<Case>;
  /** @throws where the product does something that it must never do */
  run(one: Case): Promise<void>;
  /** What the cases did, in one line: a target whose cases are all refused proves nothing. */
  summary?(): string;
  close?(): Promise<unknown>;
}

export interface FuzzOptions {
  readonly seed: number;
  /** Where fast-check found a failure, as it printed it: runs that case alone. */
  readonly path?: string | undefined;
  /** Ends after this many cases. */
  readonly cases?: number | undefined;
  /** Starts no more cases after this time. */
  readonly timeMs?: number | undefined;
}

/** Ends a case that hangs, and nothing else. Milliseconds. */
const HANGS_MS = 300_000;

/** Tries one case after another until one fails, which is then minimised. */
export async function runTarget(
  target: Target,
  { seed, path, cases, timeMs }: FuzzOptions,
): Promise<fc.RunDetails<[unknown]>> {
  const property = fc.asyncProperty(target.cases, (one) => target.run(one));
  return fc.check(property, {
    seed,
    timeout: HANGS_MS,
    ...(path && { path }),
    // A failure that is being minimised is no longer bound to the time.
    ...(timeMs !== undefined && { interruptAfterTimeLimit: timeMs, markInterruptAsFailure: false }),
    numRuns: cases ?? Number.MAX_SAFE_INTEGER,
  });
}

/** Changes a few bytes anywhere, drops some and doubles some: what is left is close to sound. */
export function mutateBytes(sound: fc.Arbitrary<Buffer>): fc.Arbitrary<Buffer> {
  const change = fc.record({
    // A share of the length, so that it means something for inputs of any length.
    at: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
    kind: fc.constantFrom('set', 'set', 'set', 'flip', 'cut', 'drop', 'double', 'insert', 'maximum'),
    bytes: fc.uint8Array({ minLength: 1, maxLength: 8 }),
  });
  return fc.tuple(sound, fc.array(change, { maxLength: 6 })).map(([bytes, changes]) => {
    let mutated = Buffer.from(bytes);
    for (const { at, kind, bytes: given } of changes) {
      const start = Math.floor(at * mutated.length);
      const end = Math.min(start + given.length, mutated.length);
      const [before, middle, after] = [
        mutated.subarray(0, start),
        mutated.subarray(start, end),
        mutated.subarray(end),
      ];
      const results: Record<string, Uint8Array[]> = {
        set: [before, given.subarray(0, middle.length), after],
        flip: [before, middle.map((byte) => byte ^ 0x80), after],
        maximum: [before, middle.map(() => 0xff), after],
        cut: [before],
        drop: [before, after],
        double: [before, middle, middle, after],
        insert: [before, given, middle, after],
      };
      mutated = Buffer.concat(results[kind] as Uint8Array[]);
    }
    return mutated;
  });
}
