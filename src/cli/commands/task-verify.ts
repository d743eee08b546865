import { resolve } from 'node:path';
import { z } from 'zod';
import { parseJson } from '../../contract/json.js';
import { type PublicKey, StatementKeys } from '../../contract/statement.js';
import { MAX_GIVEN_BYTES, readFolderFile } from '../../disk/folder-file.js';
import { computeSha256 } from '../../flows/digest.js';
import { isFile } from '../../flows/save-file.js';
import { verifyReceipt } from '../../flows/trust/receipt.js';
import { readText } from '../command/command.js';
import type { Needs } from '../connect/context.js';
import { usage } from '../terminal/failure.js';
import { Text } from '../views/answers.js';
import type { View } from '../views/view.js';

type Context = Needs<'args' | 'flags' | 'system' | 'output' | 'services'>;

export const view = (): View => ({
  usage: 'task verify <file>',
  local: true,
  summary: 'Check without the network that a file and its receipt belong together, and show what it cost',
  explain: { file: 'File that was saved with --receipt' },
  flags: { '--keys <path>': 'File with the keys of the service, as its /.well-known/regen-keys has them' },
  notes: [
    'The keys of a service are known from the first receipt or version that was read from it on this machine.',
  ],
  examples: ['regen task verify large/photo.png'],
  answer: z.object({
    path: Text,
    task_id: Text,
    service: Text,
    operation: Text,
    credits: z.number(),
    seed: z.number(),
    created_at: Text,
    key: Text,
  }),
});

export async function run(context: Context): Promise<void> {
  const { args, system, output, services } = context;
  const path = resolve(system.cwd, (args.file as string).replace(/\.receipt\.json$/, ''));
  if (!isFile(path)) throw usage(`${path} is not a file.`);
  const receipt = readFolderFile(`${path}.receipt.json`, MAX_GIVEN_BYTES).toString();
  const sha256 = await computeSha256(path);
  const verified = verifyReceipt(receipt, sha256, services.openKnownKeys(), readKeys(context));
  await output.answer({ path, ...verified });
  await output.note('The file and its receipt belong together.');
}

function readKeys({ flags, system }: Needs<'flags' | 'system'>): PublicKey[] {
  const path = readText(flags, 'keys');
  if (path === undefined) return [];
  const text = readFolderFile(resolve(system.cwd, path), MAX_GIVEN_BYTES).toString();
  const read = StatementKeys.safeParse(parseJson(text));
  if (!read.success) throw usage(`${path} does not have the keys of a service.`);
  return read.data.keys;
}
