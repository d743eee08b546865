import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findBuiltProgram } from '../../disk/built-program.js';
import type { Command, CommandTree } from '../command/command.js';
import type { Topic } from '../command/help.js';

/** The command tree that the build derived from the views and the contract, read in parts. */
export class BuiltTree {
  readonly #folder = findBuiltProgram('commands');
  /** The whole tree, except that only the commands of one word are in it, and without their flags. */
  readonly index: CommandTree = this.#read('index');

  #read<Value>(name: string): Value {
    return JSON.parse(readFileSync(join(this.#folder, `${name}.json`), 'utf8'));
  }

  readCommands(word: string | undefined): readonly Command[] {
    return word !== undefined && this.index.words.includes(word) ? this.#read<Command[]>(word) : [];
  }

  readTopic(name: string): Topic | undefined {
    return Object.hasOwn(this.index.topics, name)
      ? this.#read<Record<string, Topic>>('topics')[name]
      : undefined;
  }

  /** Reads the JSON Schemas of answers that are not the response of an operation, by command. */
  readAnswers(): Readonly<Record<string, object>> {
    return this.#read('answers');
  }

  readWhole(): CommandTree {
    return { ...this.index, commands: this.index.words.flatMap((word) => this.readCommands(word)) };
  }

  /** The tree with the one command that the words of a command line name, if there is one. */
  readTyped(argv: readonly string[]): CommandTree | undefined {
    const typed = listTypedWords(argv, this.index);
    const named = this.readCommands(typed[0])
      .filter(({ words, aliases = [] }) => {
        const last = words.length - 1;
        return words.every(
          (word, index) =>
            word === typed[index] || (index === last && aliases.includes(typed[index] as string)),
        );
      })
      .sort((one, other) => other.words.length - one.words.length);
    return named[0] && { ...this.index, commands: [named[0]] };
  }
}

/** Lists the words after the global flags, up to the next flag. */
function listTypedWords(argv: readonly string[], { globals }: CommandTree): string[] {
  const takesValue = (word: string) => globals.some(({ name, value }) => value && word === `--${name}`);
  let at = 0;
  while (argv[at]?.startsWith('-')) at += takesValue(argv[at] as string) ? 2 : 1;
  const rest = argv.slice(at);
  const end = rest.findIndex((word) => word.startsWith('-'));
  return end < 0 ? rest : rest.slice(0, end);
}
