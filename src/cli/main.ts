import { formatHelp } from './command/help.js';
import { version } from './command/version.js';
import type { System } from './terminal/system.js';
import { BuiltTree } from './views/tree.js';

/** Runs one command line and returns its exit code. */
export async function main(argv: readonly string[], system: System): Promise<number> {
  if (argv[0] === '__complete') {
    const { answerCompletion } = await import('./completion/answer.js');
    return print(await answerCompletion(argv, system), system);
  }
  const line = expandHelp(argv);
  const text = findText(line, system);
  if (text === undefined) return (await import('./run-command.js')).runCommand(line, system);
  return print(text, system);
}

async function print(text: string, system: System): Promise<number> {
  await new Promise((done) => system.stdout.write(text, done));
  return 0;
}

/** Treats `regen help node get` as `regen node get --help`. */
function expandHelp(argv: readonly string[]): readonly string[] {
  return argv[0] === 'help' ? [...argv.slice(1), '--help'] : argv;
}

/** The version, or the help of the words before `--help`; parsing them would take longer than everything else. */
function findText(argv: readonly string[], system: System): string | undefined {
  const words = argv.slice(0, -1);
  const last = argv.at(-1) as string;
  if (words.length === 0 && ['--version', '-V'].includes(last)) return `${version}\n`;
  if (!['--help', '-h'].includes(last) || words.some((word) => word.startsWith('-'))) return undefined;
  const tree = new BuiltTree();
  const commands = words.length === 0 ? tree.index.commands : tree.readCommands(words[0]);
  const isPath = commands.some((command) => words.every((word, index) => word === command.words[index]));
  return isPath
    ? formatHelp({ ...tree.index, commands }, words.join(' '), system.stderr.columns ?? 80)
    : undefined;
}
