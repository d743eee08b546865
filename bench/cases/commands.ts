import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
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

/** Variables that keep a command away from the data and settings of this user. */
function isolate(scratch: string): NodeJS.ProcessEnv {
  const { PATH, LANG } = process.env;
  return { PATH, LANG, HOME: scratch };
}

function run(args: readonly string[], env: NodeJS.ProcessEnv): void {
  const [node, entry] = regen as [string, string];
  const { status, stderr } = spawnSync(node, [entry, ...args], { env, encoding: 'utf8' });
  if (status !== 0) throw new Error(`regen ${args.join(' ')} ended with ${status}: ${stderr}`);
}

/** A command that reads from the embedded service, which is running, and not from values that it kept. */
function compareRead(name: string, bar: number, args: readonly string[]): Case {
  return {
    name,
    peer: '`node -e 0`',
    compares: 'cpuMs',
    bar,
    rounds: 25,
    async prepare(scratch): Promise<Prepared> {
      const env = isolate(scratch);
      run(['publisher', 'create', '--id', 'bench', '--name', 'Bench'], env);
      run(['node', 'create', 'bench', '--id', 'hello', '--name', 'Hello'], env);
      return {
        async runSubject() {
          rmSync(join(scratch, '.local/state/regen/completion'), { recursive: true, force: true });
          return measureCommand([...regen, ...args], { env });
        },
        runPeer: async () => measureCommand(emptyNode, { env }),
        stop: async () => run(['serve', 'stop'], env),
      };
    },
  };
}

/** The first command after the embedded service has ended. */
const autostart: Case = {
  name: 'the first command, which starts the embedded service',
  peer: '`node -e 0`',
  compares: 'wallMs',
  bar: 12,
  rounds: 9,
  async prepare(scratch): Promise<Prepared> {
    const env = isolate(scratch);
    const stop = () => run(['serve', 'stop'], env);
    run(['publisher', 'list'], env);
    return {
      async runSubject() {
        stop();
        return measureCommand([...regen, 'publisher', 'list'], { env });
      },
      runPeer: async () => measureCommand(emptyNode, { env }),
      stop: async () => stop(),
    };
  },
};

export const commandCases: readonly Case[] = [
  compareWithNode('`regen --version`', 1.25, ['--version']),
  compareWithNode('`regen --help`', 1.7, ['--help']),
  compareWithNode('`regen image relight --help`', 1.9, ['image', 'relight', '--help']),
  compareRead('`regen node get hello --json`, warm service', 4.5, ['node', 'get', 'hello', '--json']),
  autostart,
  compareWithNode('a completion of words', 2, ['__complete', '--current=', '--', 'node']),
  compareRead('a completion of live ids, warm service', 4, ['__complete', '--current=', '--', 'node', 'get']),
];
