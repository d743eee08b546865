import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Silence } from '../../../src/cli/terminal/silence.js';

const createRequest = (method: string) =>
  ({ kind: 'request', method, url: 'http://host/', headers: {} }) as const;
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
