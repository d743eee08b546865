import { open } from 'node:fs/promises';
import type { Output as Answer } from '../../client/prepare.js';
import { getOperation, type OperationOf } from '../../contract/index.js';
import { readText } from '../command/command.js';
import { printDryRun } from '../command/dry-run.js';
import { usage } from '../terminal/failure.js';
import { resolveOutput, saveFile } from '../terminal/save.js';
import type { CommandContext } from './context.js';

type AdminToken = Answer<OperationOf<'admin.generateToken'>>;

const formats = {
  plain: ({ token }: AdminToken) => token,
  env: ({ token }: AdminToken) => `REGEN_ADMIN_TOKEN=${token}`,
  header: ({ token }: AdminToken) => `Authorization: Bearer ${token}`,
  json: (answer: AdminToken) => JSON.stringify(answer),
};

/** Makes an admin token and hands it over: on stdout, or in a private file. Never on a screen unasked. */
export async function run(context: CommandContext): Promise<void> {
  const { command, flags, output, system } = context;
  const format = readFormat(context);
  const file = readText(context.flags, 'output-file');
  if (flags['dry-run']) {
    const operation = getOperation(command.operation as string);
    return printDryRun(context, operation, { params: {}, query: {}, body: undefined });
  }
  if (file === undefined && system.stdout.isTTY && !flags.show) {
    throw usage(
      'The token would be readable on this screen.',
      'Pipe it, write it with --output-file, or add --show.',
    );
  }
  if (file === undefined) {
    const answer = await createToken(context);
    if (output.mode.json) await output.answer(answer);
    else await output.line(formats[format](answer));
  } else await toFile(context, file, formats[format]);
  await context.services.announce();
}

function readFormat(context: CommandContext): keyof typeof formats {
  const { flags, output } = context;
  const given = readText(context.flags, 'format');
  if (given === undefined) return 'plain';
  if (given !== 'env' && given !== 'json' && given !== 'header') {
    throw usage(`--format is env, json or header, not '${given}'.`);
  }
  if (output.mode.json && given !== 'json' && flags['output-file'] === undefined) {
    throw usage(`--json and --format ${given} exclude each other; give one of them.`);
  }
  return given;
}

async function createToken(context: CommandContext): Promise<AdminToken> {
  const { client } = await context.services.reach();
  const answer = await client.admin.generateToken({}, { signal: context.signal });
  await context.output.note(`The token expires at ${answer.expires_at}.`);
  return answer;
}

/** The file is there, and private, before the token is made, so that none is made that cannot be kept. */
async function toFile(
  context: CommandContext,
  file: string,
  written: (answer: AdminToken) => string,
): Promise<void> {
  const path = resolveOutput(context.system.cwd, file, 'admin-token');
  let expires_at = '';
  await saveFile(path, context.flags.force === true, async (temporary) => {
    const handle = await open(temporary, 'wx', 0o600);
    try {
      const answer = await createToken(context);
      expires_at = answer.expires_at;
      await handle.writeFile(`${written(answer)}\n`);
    } finally {
      await handle.close();
    }
  });
  await context.output.answer({ path, expires_at }, { only: 'path' });
}
