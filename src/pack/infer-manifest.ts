import { readdir } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { stringify } from 'smol-toml';
import { findRemoteUrl } from './git.js';
import { createTextReader } from './pack-text.js';
import { readRequirements } from './requirements.js';

/** What could be inferred from the folder of a pack without a manifest. */
export interface InferredManifest {
  readonly id: string | undefined;
  readonly description: string | undefined;
  readonly license: { readonly file: string } | undefined;
  readonly repository: string | undefined;
  readonly dependencies: readonly string[];
  /** Sentences about values that were left out. */
  readonly warnings: readonly string[];
}

export async function inferManifest(folder: string): Promise<InferredManifest> {
  const names = (await readdir(folder)).sort();
  const read = createTextReader(folder);
  const readme = names.find((name) => /^readme(\.(md|markdown|txt))?$/i.test(name));
  const license = names.find((name) => /^(licen[cs]e|copying)(\.(md|txt))?$/i.test(name));
  const text = readme ? await read(readme) : undefined;
  const listed = names.includes('requirements.txt')
    ? await readRequirements(['requirements.txt'], read)
    : { dependencies: [], problems: [], skipped: [] };
  return {
    id: toNodeId(basename(resolve(folder))),
    description: text && 'text' in text ? findFirstParagraph(text.text) : undefined,
    license: license === undefined ? undefined : { file: license },
    repository: toWebAddress(findRemoteUrl(folder)),
    dependencies: listed.dependencies,
    warnings: [
      ...listed.problems.map((problem) => `requirements.txt ${problem}.`),
      ...listed.skipped.map(
        (line) => `requirements.txt has ${line}, which only pip understands, so it is left out.`,
      ),
    ],
  };
}

function toNodeId(name: string): string | undefined {
  const id = name
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, '-')
    .replace(/^[^a-z0-9]+|[^a-z0-9]+$/g, '')
    .slice(0, 100)
    .replace(/[^a-z0-9]+$/, '');
  return id || undefined;
}

/** The maximum length of a node's description. */
const MAX_DESCRIPTION = 1000;

/** How many characters of a README are searched for the first paragraph. */
const MAX_README = 16 * 1024;

/** Finds the first paragraph of prose, without headings, badges, HTML, lists, tables and code. */
function findFirstParagraph(markdown: string): string | undefined {
  const paragraphs = markdown
    .slice(0, MAX_README)
    .replace(/\r\n?/g, '\n')
    .replace(/^---\n[\s\S]*?\n---\n/, '')
    .replace(/^(```|~~~)[\s\S]*?^\1/gm, '')
    .replace(/<!--[\s\S]*?-->/g, '')
    .replace(/^.*\n(=+|-{2,})$/gm, '')
    .replace(/^#.*$/gm, '\n')
    .split(/\n\s*\n/);
  for (const paragraph of paragraphs) {
    if (/^\s*([<>|*+-]|\d+\.)/.test(paragraph) && !/^\s*\*\*?\w/.test(paragraph)) continue;
    const prose = paragraph
      .replace(/!\[[^\]]*\](\([^)]*\)|\[[^\]]*\])/g, '')
      .replace(/\[([^\]]*)\](\([^)]*\)|\[[^\]]*\])/g, '$1')
      .replace(/<[^>]*>/g, '')
      .replace(/(\*\*|__|`)/g, '')
      .replace(/\s+/g, ' ')
      .trim();
    if (/\p{L}{2}/u.test(prose))
      return prose.length > MAX_DESCRIPTION ? `${prose.slice(0, MAX_DESCRIPTION - 1)}…` : prose;
  }
  return undefined;
}

/** Converts a remote in any form to an https address, without credentials. */
function toWebAddress(remote: string | undefined): string | undefined {
  if (!remote) return undefined;
  const ssh = /^(?:ssh:\/\/)?(?:[^@/]+@)?([a-z0-9.-]+\.[a-z]+)(?::\d+)?[:/](?!\/)(.+)$/i.exec(remote);
  const http = /^https?:\/\/(?:[^@/]*@)?([^/@]+)\/(.+)$/i.exec(remote);
  const [, host, path] = http ?? ssh ?? [];
  if (!host || !path) return undefined;
  return `https://${host}/${path.replace(/^\/+|\/+$/g, '').replace(/\.git$/, '')}`;
}

interface NewPyproject {
  readonly id: string;
  /** Display name. */
  readonly name: string;
  readonly publisher: string;
  readonly version: string;
  readonly description?: string | undefined;
  /** The path of the licence file, or the name of the licence. */
  readonly license?: { readonly file: string } | { readonly text: string } | undefined;
  readonly repository?: string | undefined;
  readonly dependencies: readonly string[];
}

export function formatPyproject(pack: NewPyproject): string {
  const { id, name, publisher, version, description, license, repository, dependencies } = pack;
  return `${stringify({
    project: {
      name: id,
      version,
      ...(description && { description }),
      ...(license && { license }),
      dependencies: [...dependencies],
      ...(repository && { urls: { Repository: repository } }),
    },
    tool: { comfy: { PublisherId: publisher, DisplayName: name } },
  }).trimEnd()}\n`;
}
