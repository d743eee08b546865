import { setTimeout } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { NetworkError, ServiceError, StillRunningError } from '../../src/client/errors.js';
import { sleepOrAbort } from '../../src/client/sleep.js';
import { wait } from '../../src/client/wait.js';
import { createFakeClock } from './server.js';

const createReset = () => new NetworkError('reset', 'The connection broke.', 'unknown');
const createRefusal = (status: number, retryAfterMs?: number) =>
  new ServiceError({ code: 'x', status, message: 'y', retryAfterMs });

/** Returns one answer after the other, the last one repeatedly; errors are thrown. */
function playSteps(...steps: (string | Error)[]) {
  let at = 0;
  return async () => {
    const step = steps[Math.min(at, steps.length - 1)] as string | Error;
    at += 1;
    if (step instanceof Error) throw step;
    return step;
  };
}

const isDone = (state: string) => state === 'success' || state === 'failed';

it('a pause longer than the limit of a timer does not end at once', async () => {
  const ending = new AbortController();
  const pause = sleepOrAbort(60 * 86_400_000, ending.signal).catch(() => 'aborted');
  expect(await Promise.race([pause, setTimeout(50, 'still waiting')])).toBe('still waiting');
  ending.abort();
  expect(await pause).toBe('aborted');
});

describe('waiting', () => {
  it('ends with the first final answer, and treats unknown statuses as running', async () => {
    const seen: string[] = [];
    const read = playSteps('created', 'teleporting', 'success', 'never read');
    const onAnswer = (state: string) => seen.push(state);
    expect(await wait(read, { isDone, onAnswer, ...createFakeClock() })).toBe('success');
    expect(seen).toEqual(['created', 'teleporting', 'success']);
  });

  it('polls quickly at first, then less and less often', async () => {
    const clock = createFakeClock();
    const read = playSteps(...Array(18).fill('created'), 'success');
    await wait(read, { isDone, ...clock });
    expect(clock.pauses.slice(0, 3)).toEqual([40, 60, 90]);
    expect(clock.pauses.at(-1)).toBe(10_000);
    expect(clock.pauses).toEqual([...clock.pauses].sort((a, b) => a - b));
  });

  it('adds jitter to its pauses, and respects the given interval', async () => {
    const running = () => playSteps(...Array(9).fill('created'), 'success');
    const early = createFakeClock();
    await wait(running(), { isDone, intervalMs: 1000, ...early, random: () => 0 });
    const late = createFakeClock();
    await wait(running(), { isDone, intervalMs: 1000, ...late, random: () => 1 });
    expect([early.pauses.at(-1), late.pauses.at(-1)]).toEqual([500, 1000]);
  });

  it('stops at its timeout after a last request, and returns the latest answer', async () => {
    const clock = createFakeClock();
    let looks = 0;
    const read = async () => `look ${++looks}`;
    const error = await wait(read, { isDone, timeoutMs: 60_000, ...clock }).catch((error) => error);
    expect(error).toBeInstanceOf(StillRunningError);
    expect(error.last).toBe(`look ${looks}`);
    expect(clock.now()).toBe(60_000);
  });

  it('stops at its timeout even if the service stays silent', async () => {
    const answers = [Promise.resolve('created'), new Promise<string>(() => undefined)];
    const read = () => answers.shift() as Promise<string>;
    const error = await wait(read, { isDone, timeoutMs: 300 }).catch((error) => error);
    expect(error).toBeInstanceOf(StillRunningError);
    expect(error.last).toBe('created');
  });

  it('tolerates five failures in a row, repeatedly', async () => {
    const five = [createReset(), createRefusal(429), createRefusal(500), createRefusal(503), createReset()];
    const outlived: unknown[] = [];
    const read = playSteps(...five, 'created', ...five, 'success');
    const onFailure = (error: unknown) => outlived.push(error);
    expect(await wait(read, { isDone, onFailure, ...createFakeClock() })).toBe('success');
    expect(outlived).toHaveLength(10);
  });

  it('pauses longer after a failure than after an answer', async () => {
    const clock = createFakeClock();
    await wait(playSteps('created', createReset(), 'created', 'success'), { isDone, ...clock });
    expect(clock.pauses).toEqual([40, 225, 90]);
  });

  it('fails with the sixth failure in a row', async () => {
    const last = createRefusal(502);
    const read = playSteps(...Array.from({ length: 5 }, createReset), last);
    await expect(wait(read, { isDone, ...createFakeClock() })).rejects.toBe(last);
  });

  it.each([400, 401, 403, 404])('fails immediately with %i', async (status) => {
    const error = createRefusal(status);
    const clock = createFakeClock();
    await expect(wait(playSteps(error, 'success'), { isDone, ...clock })).rejects.toBe(error);
    expect(clock.pauses).toEqual([]);
  });

  it('fails immediately with other errors', async () => {
    const bug = new TypeError('a bug');
    await expect(wait(playSteps(bug, 'success'), { isDone, ...createFakeClock() })).rejects.toBe(bug);
  });

  it('waits as long as the service asks for in a failure', async () => {
    const clock = createFakeClock();
    await wait(playSteps(createRefusal(503, 45_000), 'success'), { isDone, ...clock });
    expect(clock.pauses).toEqual([45_000]);
  });

  it('ends on a signal with its own reason, while it reads and while it sleeps', async () => {
    const reason = new Error('enough');
    const stop = new AbortController();
    const read = async () => {
      stop.abort(reason);
      throw createReset();
    };
    await expect(wait(read, { isDone, signal: stop.signal })).rejects.toBe(reason);
    const later = new AbortController();
    const onAnswer = () => void setImmediate(() => later.abort(reason));
    const waiting = wait(playSteps('created'), { isDone, onAnswer, signal: later.signal });
    await expect(waiting).rejects.toBe(reason);
  });
});
