import type { CommandTree, Flag } from './command/command.js';
import { formatHelp, formatTopic } from './command/help.js';
import { version } from './command/version.js';
import { createSystem, type System } from './terminal/system.js';
import { BuiltTree } from './views/tree.js';

/** Runs the command line for bin/regen.js. */
export function run(argv: readonly string[], entry: string): Promise<number> {
  return main(argv, createSystem(entry));
}

/** Runs one command line and returns its exit code. */
export async function main(argv: readonly string[], system: System): Promise<number> {
  if (argv[0] === '__complete') {
    const { answerCompletion } = await import('./completion/answer.js');
    return printText(await answerCompletion(argv, system), system);
  }
  const line = expandHelp(argv);
  const text = findText(line, system);
  if (text === undefined) return (await import('./run-command.js')).runCommand(line, system);
  return printText(text, system);
}

async function printText(text: string, system: System): Promise<number> {
  await new Promise((done) => system.stdout.write(text, done));
  return 0;
}

/** Treats `regen help node get` and `regen --help node get` as `regen node get --help`, unless the words are a topic. */
function expandHelp(argv: readonly string[]): readonly string[] {
  return ['help', '--help', '-h'].includes(argv[0] as string) ? [...argv.slice(1), '--help'] : argv;
}

/** The version, or the help of the words before `--help`; parsing them would take longer than everything else. */
function findText(argv: readonly string[], system: System): string | undefined {
  const last = argv.at(-1) as string;
  if (argv.length === 1 && ['--version', '-V'].includes(last)) return `${version}\n`;
  const isJson = argv.includes('--json');
  const [help, ...words] = argv.filter((word) => word !== '--json').reverse();
  if (!['--help', '-h'].includes(help as string) || words.some((word) => word.startsWith('-')))
    return undefined;
  const path = words.reverse().join(' ');
  const tree = new BuiltTree();
  const columns = system.stdout.columns || 80;
  const topic = tree.readTopic(path);
  if (topic) return formatTopic(topic, columns);
  if (isJson) return formatTreeJson(tree.readWhole(), path);
  const commands = path === '' ? tree.index.commands : tree.readCommands(words[0]);
  const isPath = commands.some((command) => `${command.words.join(' ')} `.startsWith(`${path} `));
  return isPath || path === '' ? formatHelp({ ...tree.index, commands }, path, columns) : undefined;
}

/** The commands below a path for programs; undefined if there are none. */
function formatTreeJson(
  { globals, groups, topics, commands }: CommandTree,
  path: string,
): string | undefined {
  const shown = commands
    .filter(({ words }) => path === '' || `${words.join(' ')} `.startsWith(`${path} `))
    .map(({ words, summary, arguments: positionals, flags, examples, notes, operation, changes }) => ({
      command: words.join(' '),
      summary,
      arguments: positionals.map(({ target: _, type: __, ...argument }) => argument),
      flags: flags.filter(({ hidden }) => !hidden).map(toShownFlag),
      ...{ examples, notes, operation, changes: changes === true },
    }));
  if (shown.length === 0) return undefined;
  const tree = { version, groups, topics, global_flags: globals.map(toShownFlag), commands: shown };
  return `${JSON.stringify(tree, null, 1)}\n`;
}

function toShownFlag({ target: _, type: __, only: ___, ...flag }: Flag) {
  return flag;
}
