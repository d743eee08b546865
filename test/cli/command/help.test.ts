import { expect, test } from 'vitest';
import { commandTree } from '../../../src/cli/command-tree.js';
import { regen } from '../../support/cli.js';

const { commands } = commandTree();
const words = commands.map((command) => command.words);
const groups = [...new Set(words.flatMap((path) => path.map((_, index) => path.slice(0, index).join(' '))))];

test('every command prints its help on stdout and exits 0', async () => {
  for (const command of commands) {
    const { exit, stdout, stderr } = await regen([...command.words, '--help']);
    expect({ words: command.words, exit, stderr }).toEqual({ words: command.words, exit: 0, stderr: '' });
    expect(stdout).toContain(`Usage: regen ${command.words.join(' ')}`);
    for (const flag of command.flags.filter(({ hidden }) => !hidden))
      expect(stdout.replaceAll('[no-]', '')).toContain(`--${flag.name}`);
  }
});

test('a group without a command shows its help on stdout and exits 2', async () => {
  for (const group of groups.filter((name) => name !== 'serve')) {
    const { exit, stdout, stderr } = await regen(group.split(' ').filter(Boolean));
    expect({ group, exit, stderr }).toEqual({ group, exit: 2, stderr: '' });
    expect(stdout).toContain('Commands:');
  }
});

test('an unknown command prints one sentence with the nearest name and exits 2', async () => {
  const { exit, stdout, stderr } = await regen(['node', 'gett', 'x']);
  expect({ exit, stdout }).toEqual({ exit: 2, stdout: '' });
  expect(stderr).toBe("error: Unknown command 'gett' (Did you mean get?)\nhint: See: regen node --help\n");
});

test.each([
  [['version', 'publish', '--reason', 'x'], "error: Unknown option '--reason'.\n"],
  [['node', 'gt'], "error: Unknown command 'gt' (Did you mean get?)\n"],
  [['node', 'gt', '--help'], "error: Unknown command 'gt' (Did you mean get?)\n"],
  [['serve', 'stauts'], "error: Unknown command 'stauts' (Did you mean status?)\n"],
  [['serve', '--data', 'x', 'stauts', '--json'], "Unknown command 'stauts' (Did you mean status?)"],
  [['config', 'list', 'x'], "error: Too many arguments for 'list'. Expected 0 arguments but got 1.\n"],
  [
    ['image', 'upscale', 'a.png', '--scale', '4'],
    "'--scale' (Did you mean --scale-factor?)\nhint: See: regen image upscale --help\n",
  ],
  [
    ['image', 'upscale', '-a.png'],
    "error: Unknown option '-a.png'.\nhint: If it is a file, write ./-a.png\n",
  ],
  [['image', 'relight', '--promt', 'x'], "error: Unknown option '--promt' (Did you mean --prompt?)\n"],
])('only near names are suggested: %j', async (argv, error) => {
  expect((await regen(argv)).stderr).toContain(error);
});

test.each([
  [
    ['auth', 'login', '--token=secret'],
    'Pass it on standard input: regen auth login --with-token < token.txt',
  ],
  [['version', 'publish', 'film-grain', "--token=it's"], 'Set REGEN_PUBLISH_TOKEN.'],
  [
    ['node', 'list', 'ann', '--api-key', 'secret'],
    'Set REGEN_TOKEN, or name a file that contains it with --token-file.',
  ],
])(
  'an option that would take a token is refused without its value and with the place for it: %j',
  async (argv, hint) => {
    const name = argv.find((word) => word.startsWith('--'))?.split('=')[0];
    expect((await regen(argv)).stderr).toBe(
      `error: Unknown option '${name}'.\nhint: No option takes a token. ${hint}\n`,
    );
  },
);

test('names and habits of npm lead to the command for installed packs', async () => {
  expect((await regen(['node', 'list'])).stderr).toBe(
    'error: <publisherId> is required.\nhint: To list the installed packs: regen node outdated <custom_nodes> --all\n',
  );
  expect((await regen(['node', 'ls'])).stderr).toContain('hint: Did you mean: regen node outdated\n');
  expect((await regen(['node', 'show'])).stderr).toContain('hint: Did you mean: regen node get\n');
});

test('an unknown option or command names those that exist, where they are few', async () => {
  expect((await regen(['admin', 'version', 'list'])).stderr).toBe(
    "error: Unknown command 'list'.\nhint: Its commands: set-status. See: regen admin version --help\n",
  );
  const { stderr } = await regen(['admin', 'node', 'ban', 'x', '--why', 'spam']);
  expect(stderr).toContain("error: Unknown option '--why'.\nhint: Its options: --reason, ");
  expect((await regen(['image', 'relight', '--zzz', 'x'])).stderr).toBe(
    "error: Unknown option '--zzz'.\nhint: See: regen image relight --help\n",
  );
});

test('help of an unknown topic or command is an error', async () => {
  for (const argv of [
    ['help', 'nope'],
    ['nope', '--help'],
  ]) {
    const { exit, stdout, stderr } = await regen(argv);
    expect({ exit, stdout }).toEqual({ exit: 2, stdout: '' });
    expect(stderr).toBe(
      "error: Unknown command or topic 'nope' (Did you mean node?)\nhint: See: regen help\n",
    );
  }
  for (const argv of [
    ['help', 'node', 'nope'],
    ['node', 'nope', '--help'],
  ]) {
    const { exit, stdout, stderr } = await regen(argv);
    expect({ exit, stdout }).toEqual({ exit: 2, stdout: '' });
    expect(stderr).toBe("error: Unknown command 'nope'.\nhint: See: regen node --help\n");
  }
  for (const argv of [
    ['--json', 'nope', '--help'],
    ['help', '--quiet', 'nope'],
    ['--help', 'node', 'nope'],
    ['node', '--no-color', 'nope', '--help'],
    ['serve', 'nope', '--help'],
    ['serve', '--data', 'x', 'nope', '--help'],
    ['config', 'list', 'nope', '--help'],
  ]) {
    const { exit, stdout, stderr } = await regen(argv);
    expect({ argv, exit, stdout }).toEqual({ argv, exit: 2, stdout: '' });
    expect(stderr).toContain("'nope'");
  }
  expect((await regen(['--help', 'node', 'get'])).stdout).toContain('Usage: regen node get');
  for (const argv of [
    ['version', 'publish', 'folder', '--help'],
    ['--profile', 'x', '--help'],
    ['node', '--profile', 'x', '--help'],
    ['serve', '--data', 'x', '--help'],
  ])
    expect((await regen(argv)).exit, argv.join(' ')).toBe(0);
  expect((await regen(['publish', '--help'])).stderr).toContain('Did you mean: regen version publish');
});

test('every argument is explained', () => {
  const silent = commands.flatMap(({ words, arguments: positionals }) =>
    positionals.filter(({ description }) => !description).map(({ name }) => [...words, name].join(' ')),
  );
  expect(silent).toEqual([]);
});

test('an unknown flag with --json prints one JSON object on stderr', async () => {
  const { exit, stdout, stderr } = await regen(['node', 'get', 'x', '--jason', '--json']);
  expect({ exit, stdout }).toEqual({ exit: 2, stdout: '' });
  expect(JSON.parse(stderr)).toMatchObject({ error: { code: 'usage', hint: 'See: regen node get --help' } });
});

test('--version prints the version of the package', async () => {
  const { exit, stdout } = await regen(['--version']);
  expect(exit).toBe(0);
  expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
});

test.each([[[]], [['node']], [['version', 'publish']]])(
  'regen help %j prints the help of that command',
  async (words) => {
    const { exit, stdout } = await regen(['help', ...words]);
    expect(exit).toBe(0);
    expect(stdout).toBe((await regen([...words, '--help'])).stdout);
  },
);

test.each([
  ['publish', 'version publish'],
  ['login', 'auth login'],
  ['whoami', 'auth status'],
  ['search', 'node search'],
  ['init', 'node init'],
])('regen %s suggests regen %s', async (word, command) => {
  const { exit, stderr } = await regen([word, '--x']);
  expect(exit).toBe(2);
  expect(stderr).toContain(`hint: Did you mean: regen ${command}\n`);
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

test('an option of a program that is typed without -- is answered with where it comes', async () => {
  const running = commandTree().commands.filter(({ words }) => words.at(-1) === 'exec');
  expect(running.length).toBeGreaterThan(1);
  for (const { words } of running) {
    const path = words.join(' ');
    const { exit, stderr } = await regen([...words, './moderate.sh', '--kind', 'version']);
    expect({ exit, stderr }).toEqual({
      exit: 2,
      stderr: expect.stringMatching(
        `^error: Unknown option '--kind'\\.\nhint: Write the command to run after --, such as: regen ${path} .*-- \\./`,
      ),
    });
    expect((await regen([...words, '--kind', '--', './moderate.sh'])).stderr).toContain('Its options: ');
  }
});
