import { expect, test } from 'vitest';
import { commandTree } from '../../src/cli/command-tree.js';
import { regen } from '../support/cli.js';
import { publisherForTest, serviceForTest } from '../support/service.js';

async function createLongNode() {
  const service = await serviceForTest();
  await publisherForTest(service);
  const env = { REGEN_BASE_URL: service.url, REGEN_TOKEN: service.ownerToken };
  const facts = ['--id', 'light', '--name', 'Light', '--description', `${'long '.repeat(40)}end`];
  await regen(['node', 'create', 'acme', ...facts], { env });
  return (columns: number, argv: readonly string[], terminal = true) =>
    regen(argv, { env, terminal, columns });
}

const measureWidth = (text: string) => Math.max(...text.split('\n').map((line) => line.length));

test('a table is cut to the width of a terminal, and whole everywhere else', async () => {
  const run = await createLongNode();
  const { stdout } = await run(90, ['node', 'list', 'acme']);
  expect(measureWidth(stdout)).toBeLessThanOrEqual(90);
  expect(stdout).toMatch(/^light .*long lo?n?g?.*…\n$/m);
  expect((await run(90, ['node', 'list', 'acme'], false)).stdout).toContain('end\n');
  expect((await run(400, ['node', 'list', 'acme'])).stdout).toContain('end\n');
});

test('ids are shortened on a terminal, and taken back so; a column without values is left out', async () => {
  const run = await createLongNode();
  const { id } = JSON.parse(
    (await run(40, ['publisher', 'token', 'create', 'acme', 'ci', '--json'], false)).stdout,
  );
  const list = ['publisher', 'token', 'list', 'acme'];
  const { stdout } = await run(80, list);
  expect(stdout).toMatch(new RegExp(`^${id.slice(0, 8)} +ci `, 'm'));
  expect(stdout).not.toContain(id);
  const revoke = await run(80, ['publisher', 'token', 'revoke', 'acme', id.slice(0, 8), '--yes']);
  expect(revoke.exit, revoke.stderr).toBe(0);
  expect((await run(80, [...list, '--json'], false)).stdout).not.toContain(id);
  expect((await run(400, ['node', 'list', 'acme'])).stdout).not.toContain('VERSION');
});

const wideHelps = new Map<string, string>();

/** The help of a command on a terminal without a right border. */
async function readWideHelp(words: readonly string[]): Promise<string> {
  const key = words.join(' ');
  const known = wideHelps.get(key);
  if (known !== undefined) return known;
  const { stdout } = await regen([...words, '--help'], { terminal: true, columns: 10_000 });
  wideHelps.set(key, stdout);
  return stdout;
}

test.each([40, 60, 80])('help is wrapped between words at %i columns', async (columns) => {
  for (const { words } of commandTree().commands) {
    const wide = await readWideHelp(words);
    const { stdout } = await regen([...words, '--help'], { terminal: true, columns });
    const all = (text: string) => text.replaceAll(' \\\n', ' ').split(/\s+/).filter(Boolean).join(' ');
    expect(all(stdout), words.join(' ')).toBe(all(wide));
    // A word, a quoted text and a flag with its value have no place to break.
    const isWord = (line: string) => /^ *(\S+|"[^"]*"|'[^']*'|--?\S+( <[^>]*>)?)( \\)?$/.test(line);
    const tooLong = stdout.split('\n').filter((line) => line.length > columns && !isWord(line));
    expect(tooLong, words.join(' ')).toEqual([]);
  }
});

test('prices are a table of models and resolutions', async () => {
  const run = await createLongNode();
  const { stdout } = await run(80, ['video', 'prices']);
  expect(stdout).toMatch(/^VIDEO PER SECOND +360P +540P +720P +1080P +2K$/m);
  expect(stdout).toMatch(/^vvq3-pro +4 +6 +10 +16$/m);
  expect(stdout).toMatch(/^is_rec +10$/m);
});
