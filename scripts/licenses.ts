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
  return ['Parts of these packages are bundled into regen.', ...sections].join('\n\n');
}

function formatSection(title: string, license: string): string {
  return `${'-'.repeat(80)}\n${title}\n${'-'.repeat(80)}\n\n${license.trim()}`;
}

/** @throws Error if the package has none: then it cannot be bundled */
function readLicense(folder: string): string {
  const file = readdirSync(folder).find((name) => /^licen[cs]e(\.(md|txt))?$/i.test(name));
  if (!file) throw new Error(`${folder} has no licence file.`);
  return readFileSync(`${folder}/${file}`, 'utf8').replace(/\r\n/g, '\n');
}
