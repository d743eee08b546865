import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

// Ends a test that hangs, and nothing else: no verdict depends on how busy the machine is.
const HANGS_MS = 300_000;

/** Files that take long begin first, so that no worker is left alone with one at the end. */
const TAKE_LONG =
  /test\/(regular-expressions|story|fuzz|simulate|preview|python\/reader-process|service\/registry\/query-plans)/;

class LongFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const takesLong = ({ moduleId }: TestSpecification) => TAKE_LONG.test(moduleId);
    return [...sorted.filter(takesLong), ...sorted.filter((file) => !takesLong(file))];
  }
}

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: 'test/support/build.ts',
    setupFiles: process.env.TEST_REPEATS ? ['test/support/repeat-transactions.ts'] : [],
    // A worker loads each module once, not once for each file: loading took a quarter of the time.
    isolate: false,
    // One more than there are cores, because tests of processes also wait.
    maxWorkers: Math.min(availableParallelism(), 4) + 1,
    sequence: { sequencer: LongFilesFirst },
    testTimeout: HANGS_MS,
    hookTimeout: HANGS_MS,
    expect: { poll: { timeout: HANGS_MS / 2, interval: 10 } },
    reporters: ['default', 'json'],
    outputFile: { json: '.test-results.json' },
  },
});
