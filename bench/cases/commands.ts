import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Case, measureCommand, type Prepared } from '../measure.js';
import { isolate, REGEN, runRegen } from '../peers.js';

const emptyNode = [process.execPath, '-e', '0'];

/** A command that talks to no service, beside an empty Node. @param input what it reads */
function compareWithNode(name: string, bars: Case['bars'], args: readonly string[], input?: string): Case {
  return {
    name,
    peer: '`node -e 0`',
    bars,
    rounds: 25,
    async prepare(scratch): Promise<Prepared> {
      const env = { ...process.env, HOME: scratch };
      return {
        runSubject: async () =>
          measureCommand([...REGEN, ...args], { env, cwd: scratch, ...(input && { input }) }),
        runPeer: async () => measureCommand(emptyNode, { env, cwd: scratch }),
      };
    },
  };
}

/** A command that reads from the embedded service, which is running, and not from values that it kept. */
function compareRead(name: string, bar: number, args: readonly string[]): Case {
  return {
    name,
    peer: '`node -e 0`',
    bars: { cpuMs: bar },
    rounds: 25,
    async prepare(scratch): Promise<Prepared> {
      const env = isolate(scratch);
      runRegen(['publisher', 'create', '--id', 'bench', '--name', 'Bench'], env);
      runRegen(['node', 'create', 'bench', '--id', 'hello', '--name', 'Hello'], env);
      return {
        async runSubject() {
          rmSync(join(scratch, '.local/state/regen/completion'), { recursive: true, force: true });
          return measureCommand([...REGEN, ...args], { env });
        },
        runPeer: async () => measureCommand(emptyNode, { env }),
        stop: () => void runRegen(['serve', 'stop'], env),
      };
    },
  };
}

/** The first command after the embedded service has ended. */
const autostart: Case = {
  name: 'the first command, which starts the embedded service',
  peer: '`node -e 0`',
  bars: { wallMs: 12 },
  rounds: 9,
  async prepare(scratch): Promise<Prepared> {
    const env = isolate(scratch);
    const stop = () => void runRegen(['serve', 'stop'], env);
    runRegen(['publisher', 'list'], env);
    return {
      async runSubject() {
        stop();
        return measureCommand([...REGEN, 'publisher', 'list'], { env });
      },
      runPeer: async () => measureCommand(emptyNode, { env }),
      stop: async () => stop(),
    };
  },
};

/** The first message of an agent. */
const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'bench', version: '1' },
  },
};

export const commandCases: readonly Case[] = [
  compareWithNode('`regen --version`', { cpuMs: 1.25 }, ['--version']),
  compareWithNode('`regen --help`', { cpuMs: 1.7 }, ['--help']),
  compareWithNode('`regen image relight --help`', { cpuMs: 1.9 }, ['image', 'relight', '--help']),
  compareRead('`regen node get hello --json`, warm service', 4.5, ['node', 'get', 'hello', '--json']),
  autostart,
  compareWithNode(
    '`regen mcp`, until it has answered `initialize`',
    { wallMs: 6 },
    ['mcp', '.'],
    `${JSON.stringify(INITIALIZE)}\n`,
  ),
  compareWithNode('a completion of words', { cpuMs: 2 }, ['__complete', '--current=', '--', 'node']),
  compareRead('a completion of live ids, warm service', 4, ['__complete', '--current=', '--', 'node', 'get']),
];
