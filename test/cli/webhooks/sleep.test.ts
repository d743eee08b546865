import { expect, it, onTestFinished, vi } from 'vitest';
import { afterSleep } from '../../../src/cli/webhooks/sleep.js';

it('a machine that slept is detected by a clock that is ahead of its timers', () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  let asleep = 0;
  const wake = vi.fn();
  const stop = afterSleep(() => Date.now() + asleep, wake);
  vi.advanceTimersByTime(60_000);
  expect(wake).not.toHaveBeenCalled();
  asleep = 10 * 60_000;
  vi.advanceTimersByTime(60_000);
  expect(wake).toHaveBeenCalledTimes(1);
  stop();
  asleep = 20 * 60_000;
  vi.advanceTimersByTime(60_000);
  expect(wake).toHaveBeenCalledTimes(1);
});
