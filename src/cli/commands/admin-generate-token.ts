import { open } from 'node:fs/promises';
import type { Output as Answer } from '../../client/prepare.js';
import { getOperation, type OperationOf } from '../../contract/index.js';
import { printDryRun } from '../command/dry-run.js';
import type { Invocation } from '../command/invocation.js';
import { usage } from '../terminal/failure.js';
import { outputPath, save } from '../terminal/save.js';

type AdminToken = Answer<OperationOf<'admin.generateToken'>>;

const formats = {
  plain: ({ token }: AdminToken) => token,
  env: ({ token }: AdminToken) => `REGEN_ADMIN_TOKEN=${token}`,
  header: ({ token }: AdminToken) => `Authorization: Bearer ${token}`,
  json: (answer: AdminToken) => JSON.stringify(answer),
};

/** Makes an admin token and hands it over: on stdout, or in a private file. Never on a screen unasked. */
export async function run(invocation: Invocation): Promise<void> {
  const { command, flags, output, system } = invocation;
  const format = formatOf(invocation);
  const file = invocation.text('output-file');
  if (flags['dry-run']) {
    const operation = getOperation(command.operation as string);
    return printDryRun(invocation, operation, { params: {}, query: {}, body: undefined });
  }
  if (file === undefined && system.stdout.isTTY && !flags.show) {
    throw usage(
      'The token would be readable on this screen.',
      'Pipe it, write it with --output-file, or add --show.',
    );
  }
  if (file === undefined) {
    const answer = await generate(invocation);
    if (output.mode.json) await output.answer(answer);
    else await output.line(formats[format](answer));
  } else await toFile(invocation, file, formats[format]);
  await invocation.sayWhere();
}

function formatOf(invocation: Invocation): keyof typeof formats {
  const { flags, output } = invocation;
  const given = invocation.text('format');
  if (given === undefined) return 'plain';
  if (given !== 'env' && given !== 'json' && given !== 'header') {
    throw usage(`--format is env, json or header, not '${given}'.`);
  }
  if (output.mode.json && given !== 'json' && flags['output-file'] === undefined) {
    throw usage(`--json and --format ${given} exclude each other; give one of them.`);
  }
  return given;
}

async function generate(invocation: Invocation): Promise<AdminToken> {
  const { client } = await invocation.service();
  const answer = await client.admin.generateToken({}, { signal: invocation.signal });
  await invocation.output.note(`The token expires at ${answer.expires_at}.`);
  return answer;
}

/** The file is there, and private, before the token is made, so that none is made that cannot be kept. */
async function toFile(
  invocation: Invocation,
  file: string,
  written: (answer: AdminToken) => string,
): Promise<void> {
  const path = outputPath(invocation.system.cwd, file, 'admin-token');
  let expires_at = '';
  await save(path, invocation.flags.force === true, async (temporary) => {
    const handle = await open(temporary, 'wx', 0o600);
    try {
      const answer = await generate(invocation);
      expires_at = answer.expires_at;
      await handle.writeFile(`${written(answer)}\n`);
    } finally {
      await handle.close();
    }
  });
  await invocation.output.answer({ path, expires_at }, { only: 'path' });
}
