import { readdirSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';

const grammar = 'node_modules/@vscode/tree-sitter-wasm';

/**
 * Lists the folders of all packages of which something is in dist.
 * @param modules the paths of the files that were bundled
 */
export function listBundledPackages(modules: readonly string[]): string[] {
  const files = modules.map((path) => relative('.', path));
  const folders = files.flatMap((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file) ?? []);
  return [...new Set([...folders, grammar])].sort();
}

/** What npm installs beside regen, and what those owe who pass it on. */
const NATIVE_PARTS = `${'-'.repeat(80)}
Optional packages with native parts, which are not part of regen
${'-'.repeat(80)}

npm installs these from their own packages. regen loads them at run time for previews of images and
videos, and works without them (npm install --omit=optional). An image, installer or other copy that
holds them too has to meet their licences:

sharp (Apache-2.0) loads libvips and its libraries as shared libraries (@img/sharp-libvips-*,
LGPL-3.0-or-later). Pass on the licence texts and notices of that package, say that libvips is used
and where its source is (https://github.com/lovell/sharp-libvips), and let the recipient replace the
library.

@napi-rs/webcodecs (MIT) is linked with FFmpeg and, for H.264, with x264. Its platform packages hold
no licence texts of those. FFmpeg built with x264 is under the GPL, version 2 or later: pass on the
text of the GPL and the complete corresponding source of that binary, or an offer of it
(https://github.com/Brooooooklyn/webcodecs-node, https://ffmpeg.org, https://www.videolan.org/developers/x264.html),
or leave the package out. H.264 may need a patent licence where you distribute it.

mediabunny is under the MPL-2.0: changes of its files have to be passed on as source.`;

/** Writes name, version and licence of every package of which something is in dist. */
export function formatLicenses(modules: readonly string[]): string {
  const sections = listBundledPackages(modules).map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'));
    return formatSection(`${name} ${version} (${license})`, readLicense(folder));
  });
  // The grammar's package holds it compiled, without its licence.
  sections.push(
    formatSection('tree-sitter-python (MIT)', readFileSync('scripts/tree-sitter-python.LICENSE', 'utf8')),
  );
  return ['Parts of these packages are bundled into regen.', ...sections, NATIVE_PARTS].join('\n\n');
}

function formatSection(title: string, license: string): string {
  return `${'-'.repeat(80)}\n${title}\n${'-'.repeat(80)}\n\n${license.trim()}`;
}

/** @throws Error if the package has none: then it cannot be bundled */
function readLicense(folder: string): string {
  // Its readme only links to its licence.
  if (folder.endsWith('/abstract-logging')) return readFileSync('scripts/abstract-logging.LICENSE', 'utf8');
  const file = readdirSync(folder).find((name) => /^licen[cs]e(-mit)?(\.(md|txt))?$/i.test(name));
  if (!file) throw new Error(`${folder} has no licence file.`);
  return readFileSync(`${folder}/${file}`, 'utf8').replace(/\r\n/g, '\n');
}
