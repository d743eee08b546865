import type { Output as Answer } from '../../client/check-call.js';
import { getOutline } from '../../client/outlines.js';
import type { OperationNamed } from '../../contract/index.js';
import { isRecord, parseJson } from '../../contract/json.js';
import { readText } from '../command/command.js';
import { requireShow } from '../command/confirm.js';
import { printDryRun } from '../command/dry-run.js';
import { saveSecret } from '../command/secret-file.js';
import type { Needs } from '../connect/context.js';
import { usage } from '../terminal/failure.js';
import { oneLine, shellWord, toJson } from '../terminal/text.js';
import { secretFileFlags } from '../views/flags.js';
import type { View } from '../views/view.js';

type Context = Needs<'command' | 'flags' | 'system' | 'output' | 'signal' | 'services'>;

export const view = (): View => ({
  usage: 'admin generate-token',
  operation: 'admin.generateToken',
  summary: 'Create an admin token that is valid for one hour, and print only the token on stdout',
  flags: {
    '--show': 'Print the token even if stdout is a terminal',
    ...secretFileFlags,
    '--format <choice>': {
      description:
        'Output format: env (REGEN_ADMIN_TOKEN=<token>), json, or header (Authorization: Bearer <token>)',
      choices: ['env', 'json', 'header'],
    },
  },
  examples: [
    'regen admin generate-token --profile team --format header | curl -H @- https://registry.example.com/admin/audit',
    'regen admin generate-token --output-file admin.env --format env',
  ],
});

type AdminToken = Answer<OperationNamed<'admin.generateToken'>>;

// The token is text of a service: it stays on its line, and a shell takes it as one word.
const FORMATS = {
  plain: ({ token }: AdminToken) => oneLine(token),
  env: ({ token }: AdminToken) => `REGEN_ADMIN_TOKEN=${shellWord(oneLine(token))}`,
  header: ({ token }: AdminToken) => `Authorization: Bearer ${oneLine(token)}`,
  json: (answer: AdminToken) => toJson(answer),
};

export async function run(context: Context): Promise<void> {
  const { command, flags, output } = context;
  const format = readFormat(context);
  const file = readText(context.flags, 'output-file');
  if (flags['dry-run']) return printDryRun(context, getOutline(command.operation as string));
  if (file === undefined) {
    requireShow(context, 'token', 'Pipe it, write it to a file with --output-file');
    const answer = await createToken(context);
    if (output.mode.json) await output.answer(answer);
    else await output.line(FORMATS[format](answer));
  } else await writeTokenFile(context, file, FORMATS[format]);
  await context.services.announce();
}

function readFormat(context: Needs<'flags' | 'output'>): keyof typeof FORMATS {
  const { flags, output } = context;
  const given = readText(context.flags, 'format');
  if (given === undefined) return 'plain';
  if (given !== 'env' && given !== 'json' && given !== 'header') {
    throw usage(`--format must be env, json or header, not '${given}'.`);
  }
  if (output.mode.json && given !== 'json' && flags['output-file'] === undefined) {
    throw usage(`--json and --format ${given} cannot be used together.`);
  }
  return given;
}

async function createToken(context: Context): Promise<AdminToken> {
  const { client } = await context.services.reach();
  const answer = await client.admin.generateToken({}, { signal: context.signal });
  await context.output.note(`Admin token ${readTokenId(answer)}, expires ${answer.expires_at}`);
  return answer;
}

/** The beginning of the id of a token, with which `admin token revoke` ends it. */
function readTokenId({ token }: AdminToken): string {
  const payload = parseJson(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
  return isRecord(payload) && typeof payload.jti === 'string' ? oneLine(payload.jti).slice(0, 8) : '';
}

async function writeTokenFile(
  context: Context,
  file: string,
  format: (answer: AdminToken) => string,
): Promise<void> {
  let expires_at = '';
  const path = await saveSecret(context, { file, name: 'admin-token' }, async () => {
    const answer = await createToken(context);
    expires_at = answer.expires_at;
    return format(answer);
  });
  await context.output.answer({ path, expires_at }, { only: 'path' });
}
