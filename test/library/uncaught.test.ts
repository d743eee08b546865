import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { homeForTest } from '../support/cli.js';

/** What a program prints that imports the built library or service and catches nothing. */
function runProgram(entry: string, program: string): string {
  const path = join(homeForTest(), 'program.mjs');
  writeFileSync(path, `import * as regen from '${pathToFileURL(resolve('dist', entry))}';\n${program}`);
  const { status, stderr } = spawnSync(process.execPath, [path], { encoding: 'utf8' });
  expect(status).toBe(1);
  return stderr;
}

test.each([
  [
    'client.js',
    `await regen.createClient({ baseUrl: 'http://127.0.0.1:9' }).node.get({ nodeId: 'x'.repeat(3000) });`,
    /InvalidRequestError: nodeId must have at most 1024 characters\n +at /,
  ],
  ['client.js', `regen.verifyWebhook('', {}, 'x');`, /Error: .*\n +at /],
  ['service.js', `await regen.startService({ port: 'any' });`, /InvalidConfiguration: .*\n +at /],
])('an uncaught error of %s prints a trace below one short line of code', (entry, program, trace) => {
  const printed = runProgram(entry, program);
  expect(printed).toMatch(trace);
  expect(printed.slice(0, printed.search(trace)).length).toBeLessThan(600);
});
