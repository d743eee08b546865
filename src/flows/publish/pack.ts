import { existsSync, lstatSync, readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DEFAULT_LIMITS, isZipBomb } from '../../contract/schema/limits.js';
import { regen, say, type Text } from '../../contract/schema/message.js';
import { isSemanticVersion } from '../../contract/schema/semantic-version.js';
import { isPartFile } from '../../disk/part-file.js';
import { type BuiltArchive, createArchive } from '../../pack/archive.js';
import { type ChosenFiles, chooseFiles, type PackFile } from '../../pack/files.js';
import { type Manifest, type ManifestOptions, readManifest } from '../../pack/manifest.js';
import type { PackProblem } from '../../pack/problem.js';
import { findSecrets } from '../../pack/secrets.js';
import type { CodeReport } from '../../python/code-report.js';
import { readCodeApart } from '../../python/reader-process.js';
import { formatBytes } from '../../wire/format-bytes.js';
import { FlowError } from '../flow-error.js';
import { isFolder } from '../save-file.js';

/** Receives the progress messages and warnings of a publish. */
export interface PublishReport {
  note(text: Text): Promise<void>;
  warn(text: Text): Promise<void>;
}

/** Shows the stages of a long operation, and how far the current one is. */
export interface Stages {
  stage(text: string): Promise<void>;
  update(detail: string): void;
  /** Shows the number of transferred bytes. */
  transferred(done: number, total: number | undefined): void;
  end(): void;
}

/** Shows nothing, for what is a part of something larger. */
export const UNSEEN: Stages = { stage: async () => {}, update() {}, transferred() {}, end() {} };

/** A folder that can be published: its manifest and its files. */
export interface Pack {
  readonly folder: string;
  readonly manifest: Manifest;
  readonly files: readonly PackFile[];
  readonly size: number;
}

interface ReadPackOptions extends ManifestOptions {
  readonly allowSecrets?: boolean;
}

/**
 * Reads a folder that may be published.
 * @param dir relative to `cwd`, which is the default
 * @throws FlowError with all problems that prevent publishing
 */
export async function readPack(
  cwd: string,
  dir: string | undefined,
  report: PublishReport,
  { allowSecrets = false, ...options }: ReadPackOptions = {},
): Promise<Pack> {
  const folder = resolve(cwd, dir ?? '.');
  requireFolder(folder);
  requireManifest(folder, dir);
  const read = await readManifest(folder, options);
  if (!read.ok) throw toPackError('pyproject.toml has problems', read.problems);
  const { manifest } = read;
  for (const { where, message } of manifest.warnings) await report.warn(`${where} ${message}.`);
  const { files, untracked } = checkFiles(
    await chooseFiles(folder, manifest.includes, matchArchives(manifest.node.id)),
  );
  if (untracked.length > 0) {
    await report.warn(`Not packed, because git does not track them: ${formatPaths(untracked)}.`);
  }
  if (!allowSecrets) await refuseSecrets(files);
  return { folder, manifest, files, size: files.reduce((sum, file) => sum + file.size, 0) };
}

function requireFolder(path: string): void {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (!stats) throw new FlowError('usage', `Folder not found: ${path}.`);
  if (!stats.isDirectory()) {
    throw new FlowError('usage', `${path} is a file; pass the folder that contains pyproject.toml.`);
  }
}

/**
 * Requires a manifest in a folder.
 * @param dir how the folder was given
 * @throws FlowError that names a folder in it that has one
 */
export function requireManifest(folder: string, dir = ''): void {
  // A link that leads nowhere is there, and is reported when it is read.
  if (lstatSync(join(folder, 'pyproject.toml'), { throwIfNoEntry: false })) return;
  const names = isFolder(folder) ? readdirSync(folder).sort() : [];
  const pack = names.find((name) => existsSync(join(folder, name, 'pyproject.toml')));
  throw new FlowError('manifest_missing', `pyproject.toml is missing in ${folder}.`, {
    ...(pack !== undefined && { subject: join(dir, pack) }),
    details: [{ path: 'pyproject.toml', message: `is missing in ${folder}` }],
  });
}

/** Matches the archives that `version pack` wrote into the folder, also those it could not complete. */
function matchArchives(nodeId: string): (path: string) => boolean {
  const start = `${nodeId}-`;
  return (path) =>
    isPartFile(path) ||
    (path.startsWith(start) && path.endsWith('.zip') && isSemanticVersion(path.slice(start.length, -4)));
}

/** Lists the first 5 paths. */
function formatPaths(paths: readonly string[]): string {
  const more = paths.length - 5;
  return `${paths.slice(0, 5).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

function checkFiles(chosen: ChosenFiles): ChosenFiles {
  const problems = [...chosen.problems];
  const size = chosen.files.reduce((sum, file) => sum + file.size, 0);
  if (chosen.files.length > DEFAULT_LIMITS.archiveEntries) {
    problems.push({
      where: 'The pack',
      message: `has ${chosen.files.length} files; the limit is ${DEFAULT_LIMITS.archiveEntries}`,
    });
  }
  if (size > DEFAULT_LIMITS.archiveUnpacked) {
    problems.push({
      where: 'The pack',
      message: `is ${formatBytes(size)}; the limit is ${formatBytes(DEFAULT_LIMITS.archiveUnpacked)}`,
    });
  }
  if (problems.length > 0) throw toPackError('The files cannot be packed', problems);
  return chosen;
}

async function refuseSecrets(files: readonly PackFile[]): Promise<void> {
  const found = await findSecrets(files);
  if (found.length === 0) return;
  throw new FlowError('secrets_found', 'Files that look like secrets would be published; nothing was sent.', {
    details: found.map(({ path, line, kind }) => ({ path: line ? `${path}:${line}` : path, message: kind })),
  });
}

function toPackError(what: string, problems: readonly PackProblem[]): FlowError {
  const details = problems.map(({ where, message }) => ({ path: where, message }));
  const [first] = details;
  const message =
    first && details.length === 1 ? `${first.path} ${first.message}.` : `${what}; nothing was sent.`;
  return new FlowError('invalid_pack', message, { details });
}

/**
 * Builds the archive of a pack at `path`.
 * @throws FlowError if the service would refuse it
 */
export async function buildArchive(
  { signal }: { readonly signal: AbortSignal },
  { files }: Pack,
  path: string,
  progress: Stages,
): Promise<BuiltArchive> {
  const archive = await createArchive(files, path, {
    signal,
    onProgress: ({ bytes: done, totalBytes }) => progress.transferred(done, totalBytes),
  });
  const refuse = (problem: string) =>
    new FlowError('archive_limit', `The archive ${problem}; nothing was sent.`);
  const { size, unpacked } = archive;
  const { archive: most, archiveRatio: ratio } = DEFAULT_LIMITS;
  if (size > most) throw refuse(`is ${formatBytes(size)}; the limit is ${formatBytes(most)}`);
  if (isZipBomb(size, unpacked, DEFAULT_LIMITS))
    throw refuse(`unpacks to more than ${ratio} times its size, which the registry refuses as a zip bomb`);
  return archive;
}

/** What a pack may be published with. */
export interface CodeAllowances {
  /** Findings that would flag the version, and Python that the host cannot import. */
  readonly findings: boolean;
  /** No node definition at all. */
  readonly empty: boolean;
}

/**
 * Reads the code of a pack as the service will.
 * @throws FlowError if it has what is not allowed
 */
export async function checkCode(
  pack: Pack,
  report: PublishReport,
  progress: Stages,
  allowed: CodeAllowances,
): Promise<CodeReport> {
  await progress.stage(`Checking ${pack.manifest.node.id} ${pack.manifest.version.version}`);
  const code = await readCodeApart(pack.files);
  progress.end();
  const refusal = findRefusal(code, allowed);
  if (refusal) throw refusal;
  await warnAboutCode(report, code);
  return code;
}

/** Why code is not published, if it has what is not allowed. */
export function findRefusal(code: CodeReport, allowed: CodeAllowances): FlowError | undefined {
  const flagging = code.findings.filter(({ severity }) => severity === 'high');
  if (flagging.length > 0 && !allowed.findings)
    return new FlowError('findings', 'The registry would flag this version; nothing was sent.', {
      details: flagging.map(({ file, line, message, rule }) => ({
        path: `${file}:${line}`,
        message: `${message} (${rule})`,
      })),
    });
  const broken = toDetails(code.unreadable.filter(({ stops }) => stops));
  const [first, ...others] = broken;
  if (first && !allowed.findings)
    return new FlowError(
      'invalid_python',
      others.length === 0
        ? `${first.path} ${first.message}. Nothing was sent.`
        : 'Files are not valid Python; nothing was sent.',
      { details: broken },
    );
  if (!isEmpty(code) || allowed.empty) return undefined;
  return new FlowError('empty_pack', 'No node definition was found; nothing was sent.', {
    details: [
      ...code.unresolved.map(({ file, line, what }) => ({ path: `${file}:${line}`, message: what })),
      ...toDetails(code.unreadable),
    ],
  });
}

function toDetails(unreadable: CodeReport['unreadable']) {
  return unreadable.map(({ file, line, message }) => ({ path: `${file}:${line}`, message }));
}

/** Whether a pack has no node definition, and nothing that may lead to one when it runs. */
function isEmpty({ nodes, unresolved, isEmpty }: CodeReport): boolean {
  return isEmpty === true || (nodes.length === 0 && unresolved.length === 0);
}

/** Warns of what does not prevent publishing, but is probably a mistake. */
export async function warnAboutCode(report: PublishReport, code: CodeReport): Promise<void> {
  const { nodes, unresolved, unreadable } = code;
  const [gap] = unresolved;
  if (nodes.length === 0)
    await report.warn(`No node definition was found${gap ? `, because ${gap.what}` : ''}.`);
  else if (gap) {
    const places = `${unresolved.length} place${unresolved.length === 1 ? '' : 's'}`;
    await report.warn(
      say`Node definitions may be missing, for ${places} cannot be followed: see ${regen('version check')}.`,
    );
  }
  for (const { file, line, message } of unreadable) await report.warn(`${file}:${line} ${message}.`);
}
