import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Silence } from '../../../src/cli/terminal/silence.js';
import { NetworkError } from '../../../src/client/errors.js';

const createRequest = (method: string) =>
  ({ kind: 'request', method, url: 'http://host/', headers: {} }) as const;
const createRetry = (pauseMs: number) =>
  ({
    kind: 'retry',
    attempt: 1,
    pauseMs,
    reason: new NetworkError('reset', 'It broke.', 'unknown'),
  }) as const;
const response = { kind: 'response', status: 200, headers: {}, ms: 1 } as const;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function createSilence() {
  const said: string[] = [];
  return { said, silence: new Silence('http://host', (sentence) => said.push(sentence)) };
}

it('a slow service is reported once, and again after its next silence', () => {
  const { said, silence } = createSilence();
  silence.observe(createRequest('GET'));
  vi.advanceTimersByTime(4_900);
  expect(said).toEqual([]);
  vi.advanceTimersByTime(60_000);
  expect(said).toEqual(['Still waiting for a response from http://host. Press Ctrl-C to stop.']);
  silence.observe(response);
  silence.observe(createRequest('POST'));
  vi.advanceTimersByTime(5_000);
  expect(said).toHaveLength(2);
});

it('fast responses and uploads are not reported as silent', () => {
  const { said, silence } = createSilence();
  silence.observe(createRequest('GET'));
  silence.observe(response);
  silence.observe(createRequest('PUT'));
  vi.advanceTimersByTime(60_000);
  expect(said).toEqual([]);
});

it('a long pause before a repeat is reported once for all requests that wait at the same time', () => {
  const { said, silence } = createSilence();
  silence.observe(createRetry(4_000));
  expect(said).toEqual([]);
  silence.observe(createRetry(30_000));
  silence.observe(createRetry(30_000));
  expect(said).toEqual(['http://host is busy; trying again in 30 s. Press Ctrl-C to stop.']);
  vi.advanceTimersByTime(30_000);
  silence.observe(createRetry(120_000));
  expect(said).toHaveLength(2);
});
