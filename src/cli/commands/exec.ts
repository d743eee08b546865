import { basename, join } from 'node:path';
import { z } from 'zod';
import { getOutline } from '../../client/outlines.js';
import { listTaskOperations } from '../../contract/index.js';
import { regen, say } from '../../contract/schema/message.js';
import { writePrivateFile } from '../../disk/private-file.js';
import type { Bill, KeyLimits } from '../../flows/keys/spending-key.js';
import { endKey, openLimitedKey } from '../agents/limited-key.js';
import { readNumber, readText } from '../command/command.js';
import { printDryRun } from '../command/dry-run.js';
import type { Needs } from '../connect/context.js';
import { runChildProgram } from '../terminal/child-program.js';
import { durationMs } from '../terminal/duration.js';
import { exitCodes, usage } from '../terminal/failure.js';
import { withScratch } from '../terminal/scratch.js';
import { Count, Row, Text } from '../views/answers.js';
import type { View } from '../views/view.js';

type Context = Needs<
  'args' | 'flags' | 'system' | 'output' | 'interruption' | 'signal' | 'services' | 'ledger'
>;

export const view = (): View => ({
  usage: 'exec [command...]',
  changes: true,
  summary: 'Run a script or an agent that can spend a number of credits, and no more',
  explain: {
    command: 'The command to run and its arguments, after --. The file REGEN_KEY_FILE has its API key',
  },
  flags: {
    '--credits <number>': 'Credits that all its tasks together may cost (required)',
    '--operations <names>': {
      description:
        'The only operations that it may start, separated by commas, such as image.relight,video.*; default: all that generate',
      repeat: true,
      choices: listTaskOperations(),
    },
    '--for <duration>': 'How long it can spend, such as 2h (default: until it ends)',
  },
  notes: [
    'The service refuses what exceeds the credits, so no other client can, either. The key can start and cancel tasks, and sees only those of keys with its name, so that the same command goes on with the tasks of a run that was interrupted or failed. It is revoked when the command ends; if regen is killed, it ends within an hour.',
    'The command does not get the tokens and secrets of your environment that regen knows, and regen uses no stored ones in it. It can still read your files: run what you do not trust as another user.',
    'Tasks that run at the end go on, and their cost is in the bill. With --json, stdout is the bill, and what the command prints goes to stderr.',
  ],
  examples: [
    'regen exec --credits 50 -- ./night.sh',
    'regen exec --credits 50 --operations image.relight,video.* --for 2h -- ./night.sh',
  ],
  answer: z.object({
    key_id: Text,
    key_name: Text,
    limit: Count.describe('Credits that it could spend'),
    tasks: Count,
    charged: z.number(),
    refunded: z.number(),
    credits: z.number().describe('Credits charged and not refunded'),
    unfinished: Row({ task_id: Text, operation: Text, status: Text, credits: z.number() }),
    exit_code: Count.describe('Exit code of the command, which is also that of regen'),
  }),
});

export async function run(context: Context): Promise<number | undefined> {
  const { args, flags, output, system, interruption, services, ledger } = context;
  const command = (args.command as readonly string[] | undefined) ?? [];
  const [program] = command;
  const credits = readNumber(flags, 'credits', { max: 1_000_000_000 });
  if (program === undefined || credits === undefined) {
    throw usage(
      program === undefined ? 'No command given.' : '--credits is required.',
      say`Write the credits and the command, such as: ${regen('exec', '--credits 50 -- ./night.sh')}`,
    );
  }
  const limits = { name: `regen exec ${basename(program)}`.slice(0, 100), credits, ...readLimits(flags) };
  // Loaded here, because it needs the contract.
  const { toKeyRequest } = await import('../../flows/keys/spending-key.js');
  const body = toKeyRequest(limits);
  if (flags['dry-run']) {
    await printDryRun(context, getOutline('key.create'), { body });
    return undefined;
  }
  const { name, url, client } = await services.reach();
  return withScratch(system.now(), async (folder) => {
    const key = await openLimitedKey(context, client, limits);
    await output.note(`The command gets an API key of ${name} that can spend ${credits} credits.`);
    const prepare = () => {
      const path = join(folder, 'api-key');
      writePrivateFile(path, key.token);
      return { REGEN_BASE_URL: url, REGEN_KEY_FILE: path, REGEN_KEY_NAME: limits.name };
    };
    const keepsStdout = output.isForProgram;
    let bill: Bill | undefined;
    const since = system.now();
    const exit_code = await runChildProgram(
      { system, interruption, command, prepare, keepsStdout },
      async () => {
        bill = await endKey(context, key, credits);
      },
    );
    const { profile } = services.target;
    const { endRun } = await import('../../flows/keys/end-run.js');
    await endRun(ledger, { key: limits.name, since, profile, hasFailed: exit_code !== exitCodes.done });
    if (bill && keepsStdout)
      await output.answer({ key_id: key.id, key_name: limits.name, limit: credits, ...bill, exit_code });
    return exit_code;
  });
}

function readLimits(flags: Context['flags']): Pick<KeyLimits, 'operations' | 'lifetimeMs'> {
  const given = readText(flags, 'for');
  const lifetimeMs = given === undefined ? undefined : durationMs(given, '--for');
  if (lifetimeMs !== undefined && lifetimeMs < 1000) throw usage('--for must be at least 1s.');
  const operations = (flags.operations as readonly string[] | undefined)
    ?.flatMap((names) => names.split(','))
    .map((name) => name.trim());
  return { ...(lifetimeMs !== undefined && { lifetimeMs }), ...(operations && { operations }) };
}
