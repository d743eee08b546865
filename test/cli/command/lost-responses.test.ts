import { describe, expect, test } from 'vitest';
import { toFailure } from '../../../src/cli/command/to-failure.js';
import { NetworkError } from '../../../src/client/errors.js';
import { sendJson, serveForTest } from '../../client/server.js';
import { regen } from '../../support/cli.js';
import { generationDeskForTest } from '../../support/generation-desk.js';
import { packForTest } from '../../support/packs.js';
import { folderForTest, publisherForTest, serviceForTest } from '../../support/service.js';

const SAME = 'hint: Run the same command again to continue; started tasks are not started twice.\n';

describe('a start whose response is lost names what continues without paying twice', () => {
  test.each([
    [['image', 'relight', 'photo.png']],
    [['image', 'relight', 'photo.png', '-q']],
    [['image', 'relight', 'photo.png', '--no-wait']],
    [['video', 'text2video', 'a boat']],
  ])('%j: the same command', async (argv) => {
    const { double, run } = await generationDeskForTest({ onStart: (_, count) => count > 1 });
    const lost = await run(argv);
    expect(lost).toMatchObject({ exit: 7, stderr: expect.stringContaining(SAME) });
    const again = await run(argv);
    expect([again.exit, double.tasks.size], again.stderr).toEqual([0, 1]);
  });

  test.each([502, 504])('also if a gateway answers %i', async (status) => {
    const { run } = await generationDeskForTest({ refuse: () => ({ status, error: `http_${status}` }) });
    const { exit, stderr } = await run(['video', 'text2video', 'a boat']);
    expect([exit, stderr]).toEqual([7, expect.stringContaining(SAME)]);
  });

  test('with --again: the command without it', async () => {
    const { double, run } = await generationDeskForTest({ onStart: (_, count) => count > 1 });
    const lost = await run(['image', 'relight', 'photo.png', '--again']);
    expect(lost.stderr).toContain('hint: Run the same command without --again to continue');
    const again = await run(['image', 'relight', 'photo.png']);
    expect([again.exit, double.tasks.size], again.stderr).toEqual([0, 1]);
  });

  test('task rerun: the rerun of the new request', async () => {
    const { double, run } = await generationDeskForTest({ onStart: (_, count) => count !== 2 });
    const id = (await run(['image', 'relight', 'photo.png', '--no-wait'])).stdout.trim();
    const lost = await run(['task', 'rerun', id]);
    const [, command = ''] = /idempotency key: regen (task rerun \S+)\n/.exec(lost.stderr) ?? [];
    const again = await run(command.split(' '));
    expect([again.exit, double.tasks.size], lost.stderr + again.stderr).toEqual([0, 2]);
  });
});

test('if a service answers no more while a command waits, the hint is the command that waits for the task', async () => {
  const { url } = await serveForTest(({ method }, response) => {
    if (method === 'POST') sendJson(response, 200, { task_id: 'one', state: 'created', credits: 1 });
    else response.end('<html>');
  });
  const argv = ['video', 'text2video', 'a boat', '-o', 'boat.mp4', '--interval', '10ms', '--base-url', url];
  const { exit, stderr } = await regen(argv, { cwd: folderForTest() });
  expect(exit, stderr).toBe(7);
  expect(stderr).toContain(
    `hint: The work continues. Resume with: regen task wait one --output boat.mp4 --base-url ${url}\n`,
  );
});

test.each([
  ['refused', false, true, 'Continue.'],
  ['refused', false, false, 'Check the address and the network.'],
  ['reset', 'unknown', false, 'Continue.'],
  ['timeout', 'unknown', false, 'Allow more time with --request-timeout. Continue.'],
] as const)('%s of a request that was sent (%s), with begun work (%s)', (code, sent, hasBegun, hint) => {
  const error = new NetworkError(code, 'No response.', sent);
  expect(String(toFailure(error, undefined, { hint: 'Continue.', hasBegun }).facts.hint)).toBe(hint);
});

test('after other lost responses, the hint depends on whether the same command continues or only reads', async () => {
  const rules = [
    { operations: ['version.publish'], drop: 'before' },
    { operations: ['publisher.create'], nth: 2, drop: 'after' },
    { operations: ['node.search'], drop: 'before' },
  ];
  const service = await serviceForTest({}, { scenario: { document: { rules }, seed: 1 } });
  const { personalAccessToken } = await publisherForTest(service);
  const env = {
    REGEN_BASE_URL: service.url,
    ...{ REGEN_TOKEN: service.ownerToken, REGEN_PUBLISH_TOKEN: personalAccessToken },
  };
  const findHint = async (argv: readonly string[]) => {
    const { exit, stderr } = await regen(argv, { env });
    return [exit, stderr.split('hint: ')[1]];
  };
  expect(await findHint(['version', 'publish', packForTest()])).toEqual([
    7,
    'Run the same command again to continue; the version number is not used up.\n',
  ]);
  expect(await findHint(['publisher', 'create', 'other', '--name', 'Other'])).toEqual([
    7,
    'The service may have received the request. Check whether it was carried out before you run the command again.\n',
  ]);
  expect(await findHint(['node', 'search', 'light'])).toEqual([7, 'Check the address and the network.\n']);
});

test('a change that got no response in time is to be checked, too', () => {
  const hintAt = (isChanging: boolean) => {
    const error = new NetworkError('timeout', 'No response.', 'unknown');
    return String(toFailure(error, undefined, { hint: undefined, hasBegun: false, isChanging }).facts.hint);
  };
  expect(hintAt(true)).toContain('Check whether it was carried out');
  expect(hintAt(false)).toBe('Try again, or allow more time with --request-timeout.');
});
