/** The work took too long. */
export class TimedOut extends Error {
  override readonly name = 'TimedOut';
}

/** A time is counted in this many parts, of which a pause of this process takes up one at most. */
const PARTS = 10;

/** Calls back after each period in which this process runs. @returns stops it */
export function repeatEvery(ms: number, onPassed: () => void): () => void {
  let left = PARTS;
  const timer = setInterval(() => {
    left -= 1;
    if (left > 0) return;
    left = PARTS;
    onPassed();
  }, ms / PARTS).unref();
  return () => clearInterval(timer);
}

/**
 * Runs what waits for others, with a limit on its time. Only the time in which this process runs counts: while it is
 * paused, or a busy machine does not get to it, no answer can arrive.
 * @throws TimedOut; the reason of `signal`
 */
export async function runWithin<Result>(
  ms: number,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const timeout = new AbortController();
  const stop = repeatEvery(ms, () => timeout.abort(new TimedOut(`It took longer than ${ms / 1000} s.`)));
  try {
    return await work(signal ? AbortSignal.any([signal, timeout.signal]) : timeout.signal);
  } catch (error) {
    signal?.throwIfAborted();
    throw timeout.signal.aborted ? timeout.signal.reason : error;
  } finally {
    stop();
  }
}

/**
 * Waits for work that cannot be aborted, with a limit on the time; the work goes on.
 * @throws TimedOut
 */
export function awaitWithin<Result>(ms: number, work: Promise<Result>): Promise<Result> {
  return runWithin(ms, undefined, (signal) => {
    const aborted = new Promise<never>((_, reject) =>
      signal.addEventListener('abort', () => reject(signal.reason)),
    );
    return Promise.race([work, aborted]);
  });
}
