import { type Change, compareDefinitions, type ListedDefinition } from './compare-definitions.js';
import { SEMANTIC_VERSION } from './schema/semantic-version.js';

/** A version and its definitions. */
export interface Release {
  readonly version: string;
  readonly definitions: readonly ListedDefinition[];
}

// Decided: as npm reads `^`, the first part that is not 0 is the one whose change may break: 0.3.1 → 0.4.0 may, 0.3.1 → 0.3.2
// may not, and below 0.1.0 every release may. So may a pre-release, which promises nothing, and what follows one.
/** Whether workflows that were saved with the version `from` may stop working with `to`. */
export function mayBreak(from: string, to: string): boolean {
  const [before, after] = [splitVersion(from), splitVersion(to)];
  if (!before || !after || before.isPreRelease || after.isPreRelease) return true;
  const first = before.core.findIndex((part) => part !== '0');
  if (first < 0 || first === 2) return true;
  return before.core.slice(0, first + 1).join() !== after.core.slice(0, first + 1).join();
}

/**
 * Finds the changes that make the number of a release wrong: it says that saved workflows keep working, and they do not.
 * @param isWhole whether all definitions of the later one are known
 */
export function findBrokenPromises(from: Release, to: Release, isWhole: boolean): Change[] {
  if (mayBreak(from.version, to.version)) return [];
  return listBreaking(compareDefinitions(from.definitions, to.definitions), isWhole);
}

/** What breaks workflows for certain: a definition may be in what could not be read. */
function listBreaking(changes: readonly Change[], isWhole: boolean): Change[] {
  return changes.filter(({ breaks, change }) => breaks && (isWhole || change !== 'node removed'));
}

interface NextRelease {
  readonly part: 'major' | 'minor' | 'patch';
  /** The beginning of a sentence. */
  readonly reason: string;
  /** What breaks saved workflows. */
  readonly broken: readonly Change[];
}

/** Chooses the part of the number that the release after `from` must raise, and says why. */
export function chooseNext(from: Release, after: readonly ListedDefinition[], isWhole: boolean): NextRelease {
  const changes = compareDefinitions(from.definitions, after);
  const broken = listBreaking(changes, isWhole);
  const [major, minor] = splitVersion(from.version)?.core ?? [];
  if (broken.length > 0) {
    const part = major !== '0' ? 'major' : minor !== '0' ? 'minor' : 'patch';
    return { part, broken, reason: `Changes since ${from.version} break saved workflows` };
  }
  const isMore = changes.some(({ change }) => ADDITIONS.has(change));
  const reason = isMore
    ? `Since ${from.version}, nodes, inputs, outputs or values of inputs were added`
    : `Since ${from.version}, nothing was added and no saved workflow breaks`;
  return { part: isMore && major !== '0' ? 'minor' : 'patch', broken, reason };
}

const ADDITIONS: ReadonlySet<string> = new Set([
  'node added',
  'input added',
  'outputs',
  'choices added',
  'range widened',
]);

function splitVersion(version: string): { core: string[]; isPreRelease: boolean } | undefined {
  const [, major, minor, patch, preRelease] = SEMANTIC_VERSION.exec(version) ?? [];
  if (major === undefined || minor === undefined || patch === undefined) return undefined;
  return { core: [major, minor, patch], isPreRelease: preRelease !== undefined };
}

/** Whether code has no definitions beside those that were found in it. */
export function isWholeCode({
  followed,
  unresolved,
}: {
  readonly followed: boolean;
  readonly unresolved: readonly unknown[];
}): boolean {
  return followed && unresolved.length === 0;
}

/** Writes a change without the name of its definition. */
export function describeChange({ change, detail }: Change): string {
  return detail ? `${change} (${detail.slice(0, 200)})` : change;
}
