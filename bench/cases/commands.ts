import { type Case, measureCommand, type Prepared } from '../measure.js';

const regen = [process.execPath, 'bin/regen.js'];
const emptyNode = [process.execPath, '-e', '0'];

/** A command that talks to no service, beside an empty Node. */
function compareWithNode(name: string, bar: number, args: readonly string[]): Case {
  return {
    name,
    peer: '`node -e 0`',
    compares: 'cpuMs',
    bar,
    rounds: 25,
    async prepare(scratch): Promise<Prepared> {
      const env = { ...process.env, HOME: scratch };
      return {
        runSubject: async () => measureCommand([...regen, ...args], { env }),
        runPeer: async () => measureCommand(emptyNode, { env }),
      };
    },
  };
}

export const commandCases: readonly Case[] = [
  compareWithNode('`regen --version`', 1.25, ['--version']),
  compareWithNode('`regen --help`', 1.7, ['--help']),
  compareWithNode('`regen image relight --help`', 1.9, ['image', 'relight', '--help']),
  compareWithNode('a completion of words', 2, ['__complete', '--', 'node', '']),
];
