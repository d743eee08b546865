import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** What a release is made from. */
export interface ReleaseFacts {
  /** The text of CHANGELOG.md, before `Unreleased` is renamed to the version. */
  readonly changelog: string;
  /** The version in package.json. */
  readonly version: string;
  /** The tags of the repository, such as `v0.1.0`. */
  readonly tags: readonly string[];
  /** The entries of package-lock.json by folder. */
  readonly locked: Readonly<Record<string, object>>;
  /** package.json. */
  readonly manifest: Readonly<Record<string, unknown>>;
  /** The workflow that publishes. */
  readonly workflow: string;
  /** Versions of the package that the registry has; none for a name that is free, undefined if it could not be asked. */
  readonly published: readonly string[] | undefined;
}

interface Section {
  readonly title: string;
  readonly lines: readonly string[];
}

const RAISE_HINT = 'Raise the version in package.json.';
const KINDS = ['Added', 'Changed', 'Fixed', 'Removed', 'Security'];

/** Finds what keeps a version from being released; empty where nothing does. */
export function findReleaseProblems(facts: ReleaseFacts): string[] {
  const { changelog, version, tags, locked, published } = facts;
  const sections = readSections(changelog);
  const unreleased = sections.find(({ title }) => title === 'Unreleased');
  const problems = [...sections.flatMap(findSectionProblems), ...findProvenanceProblems(facts)];
  if (published === undefined) problems.push('The registry could not be asked whether the name is free.');
  if (published?.includes(version)) problems.push(`${version} is published already. ${RAISE_HINT}`);
  if (!unreleased) problems.push('CHANGELOG.md has no section Unreleased.');
  else if (!unreleased.lines.some((line) => line.startsWith('- '))) {
    problems.push('The section Unreleased of CHANGELOG.md is empty. Describe what changed.');
  }
  if (tags.includes(`v${version}`)) problems.push(`v${version} is tagged already. ${RAISE_HINT}`);
  if (sections.some(({ title }) => title.split(' ')[0] === version)) {
    problems.push(`CHANGELOG.md lists ${version} already. ${RAISE_HINT}`);
  }
  const unpinned = findUnpinned(locked);
  if (unpinned.length > 0) {
    problems.push(
      `package-lock.json has no hash for ${unpinned.join(', ')}. Remove these entries, and run npm install --package-lock-only.`,
    );
  }
  return problems;
}

/** What npm needs to prove where a package was built. */
function findProvenanceProblems({ manifest, workflow }: ReleaseFacts): string[] {
  const missing = ['name', 'description', 'license', 'repository'].filter((field) => !manifest[field]);
  return [
    ...missing.map((field) => `package.json has no ${field}.`),
    ...(manifest.private ? ['package.json says private, so npm refuses to publish it.'] : []),
    ...(['--provenance', 'id-token: write'] as const)
      .filter((part) => !workflow.includes(part))
      .map(
        (part) => `.github/workflows/release.yml has no '${part}', so the package would have no provenance.`,
      ),
  ];
}

/** The packages that npm would install regardless of their content. */
export function findUnpinned(locked: ReleaseFacts['locked']): string[] {
  const paths = Object.keys(locked).filter(
    (path) => path !== '' && !('integrity' in (locked[path] as object)),
  );
  return paths.map((path) => path.replace(/^.*node_modules\//, ''));
}

function readSections(changelog: string): Section[] {
  const [, ...sections] = changelog.split(/^## /m);
  return sections.map((section) => {
    const [title = '', ...lines] = section.split('\n');
    return { title: title.replace(/[[\]]/g, '').trim(), lines };
  });
}

/** Every entry must be under a heading that says what kind of change it is. */
function findSectionProblems({ title, lines }: Section): string[] {
  const headings = lines.filter((line) => line.startsWith('### ')).map((line) => line.slice(4).trim());
  const problems = headings
    .filter((heading) => !KINDS.includes(heading))
    .map(
      (heading) => `The section ${title} of CHANGELOG.md has a heading ${heading}; use ${KINDS.join(', ')}.`,
    );
  const first = lines.findIndex((line) => line.startsWith('- '));
  if (first >= 0 && !lines.slice(0, first).some((line) => line.startsWith('### '))) {
    problems.push(
      `The section ${title} of CHANGELOG.md has entries without a heading; use ${KINDS.join(', ')}.`,
    );
  }
  return problems;
}

function readPublished(name: string): readonly string[] | undefined {
  const args = ['view', name, 'versions', '--json'];
  const { stdout, status } = spawnSync('npm', args, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const answer = JSON.parse(stdout || '{}');
  if (status === 0) return [answer].flat();
  return answer.error?.code === 'E404' ? [] : undefined;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const manifest = JSON.parse(readFileSync('package.json', 'utf8'));
  const { version } = manifest;
  const workflow = readFileSync('.github/workflows/release.yml', 'utf8');
  const published = readPublished(manifest.name);
  const tags = execFileSync('git', ['tag', '--list'], { encoding: 'utf8' }).split('\n');
  const changelog = readFileSync('CHANGELOG.md', 'utf8');
  const { packages: locked } = JSON.parse(readFileSync('package-lock.json', 'utf8'));
  const problems = findReleaseProblems({ changelog, version, tags, locked, manifest, workflow, published });
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exitCode = 1;
  else console.log(`Version ${version} can be released: git tag v${version}, and push the tag.`);
}
