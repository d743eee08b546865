import { defineConfig } from 'vitest/config';

// Ends a test that hangs, and nothing else: no verdict depends on how busy the machine is.
const HANGS_MS = 300_000;

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: 'test/support/build.ts',
    setupFiles: process.env.TEST_REPEATS ? ['test/support/repeat-transactions.ts'] : [],
    // A worker loads each module once, not once for each file: loading took a quarter of the time.
    isolate: false,
    maxWorkers: 2,
    testTimeout: HANGS_MS,
    hookTimeout: HANGS_MS,
    expect: { poll: { timeout: HANGS_MS / 2, interval: 10 } },
    reporters: ['default', 'json'],
    outputFile: { json: '.test-results.json' },
  },
});
