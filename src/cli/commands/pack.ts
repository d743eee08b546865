import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { usage } from '../failure.js';
import type { Invocation } from '../invocation.js';
import { Progress } from '../progress.js';
import { buildArchive } from '../publish/build.js';
import { readPack } from '../publish/pack.js';
import { bytes } from '../text.js';

/** Writes the archive that publish would upload, or lists what would be in it. */
export async function run(invocation: Invocation): Promise<void> {
  const { command, flags, output, system } = invocation;
  const pack = await readPack(invocation);
  const { manifest, files, size } = pack;
  if (flags.list) {
    const listed = files.map(({ path, size }) => ({ path, size }));
    await output.answer(listed, command.shape);
    return output.note(`${files.length} files, ${bytes(size)}.`);
  }
  const target = resolve(
    system.cwd,
    invocation.text('output') ?? `${manifest.node.id}-${manifest.version.version}.zip`,
  );
  if (existsSync(target) && !flags.force) {
    throw usage(`${target} exists already.`, 'Choose another with --output, or write over it with --force.');
  }
  const progress = new Progress(output);
  try {
    await progress.stage(`Packing ${files.length} files, ${bytes(size)}`);
    const archive = await buildArchive(invocation, pack, target, progress);
    progress.end();
    await output.answer({ path: target, files: archive.entries, ...pick(archive) }, { only: 'path' });
  } finally {
    progress.end();
  }
}

function pick({ size, sha256, tree }: { size: number; sha256: string; tree: string }) {
  return { size, sha256, tree };
}
