import { z } from 'zod';
import { buildArchive } from '../../flows/publish/pack.js';
import { saveFile } from '../../flows/save-file.js';
import { formatBytes } from '../../wire/format-bytes.js';
import { readText } from '../command/command.js';
import type { Needs } from '../connect/context.js';
import { readFolder } from '../publish/publish-folder.js';
import { Progress } from '../terminal/progress.js';
import { resolveOutput } from '../terminal/save.js';
import { formatCount } from '../terminal/text.js';
import { Count, File, Sha256, Text } from '../views/answers.js';
import { allowSecretsFlag, dirExplain } from '../views/flags.js';
import type { View } from '../views/view.js';

type Context = Needs<'command' | 'args' | 'flags' | 'system' | 'output' | 'signal' | 'services'>;

export const view = (): View => ({
  usage: 'version pack [dir]',
  local: true,
  shape: { columns: ['size', 'path'] },
  summary: 'Write the archive that `version publish` would upload, and send nothing',
  explain: dirExplain,
  flags: {
    '--list': 'List each file with its size in bytes, and write nothing',
    '-o, --output <path>': 'File or folder/ to write to (default <node>-<version>.zip)',
    '--force': 'Overwrite an existing file',
    ...allowSecretsFlag,
  },
  examples: ['regen version pack --list', 'regen version pack packs/light -o light.zip'],
  answer: z.union([
    z.array(File),
    z.object({ path: Text, files: Count, size: Count, sha256: Sha256, tree: Text }),
  ]),
});

export async function run(context: Context): Promise<void> {
  const { command, flags, output, system } = context;
  const pack = await readFolder(context, context.args.dir as string | undefined);
  const { manifest, files, size } = pack;
  if (flags.list) {
    const listed = files.map(({ path, size }) => ({ path, size }));
    await output.answer(listed, command.shape);
    return output.note(`${formatCount(files.length, 'file')}, ${formatBytes(size)}.`);
  }
  const name = `${manifest.node.id}-${manifest.version.version}.zip`;
  const path = resolveOutput(system.cwd, readText(context.flags, 'output'), name);
  using progress = new Progress(output);
  let answer: object | undefined;
  await saveFile(path, flags.force === true, async (temporary) => {
    await progress.stage(`Packing ${formatCount(files.length, 'file')}, ${formatBytes(size)}`);
    const archive = await buildArchive(context, pack, temporary, progress);
    answer = { path, files: archive.entries, ...pickFacts(archive) };
  });
  progress.end();
  await output.answer(answer, { only: 'path' });
}

function pickFacts({ size, sha256, tree }: { size: number; sha256: string; tree: string }) {
  return { size, sha256, tree };
}
