import { completeVersion } from '../../contract/schema/semantic-version.js';
import type { Context } from '../operation/context.js';

/** The spelling under which a version is held, if this registry or the one behind it takes short ones. */
export function completeSpelling({ compatibility }: Pick<Context, 'compatibility'>, version: string): string {
  return compatibility.completeVersions ? completeVersion(version) : version;
}

/**
 * Orders two strict SemVer 2.0.0 strings, oldest first. Versions of equal precedence are ordered by their
 * build text, so that every list has one order. Numbers may exceed 2^53, where most parsers throw.
 */
export function compareVersions(left: string, right: string): number {
  const [a, b] = [splitVersion(left), splitVersion(right)];
  return (
    compareLists(a.core, b.core) ||
    Number(a.preRelease.length === 0) - Number(b.preRelease.length === 0) ||
    compareLists(a.preRelease, b.preRelease) ||
    compareText(a.build, b.build)
  );
}

export function isPreRelease(version: string): boolean {
  return splitVersion(version).preRelease.length > 0;
}

function splitVersion(version: string): { core: string[]; preRelease: string[]; build: string } {
  const [, core = '', preRelease, build = ''] = /^([^-+]*)(?:-([^+]*))?(?:\+(.*))?$/.exec(version) ?? [];
  return { core: core.split('.'), preRelease: preRelease?.split('.') ?? [], build };
}

/** Compares identifier by identifier; if all are equal, the shorter list is older. */
function compareLists(left: readonly string[], right: readonly string[]): number {
  for (const [index, identifier] of left.entries()) {
    const other = right[index];
    if (other === undefined) return 1;
    const order = compareIdentifiers(identifier, other);
    if (order !== 0) return order;
  }
  return left.length - right.length;
}

function compareIdentifiers(left: string, right: string): number {
  const numeric = [left, right].map((identifier) => /^\d+$/.test(identifier));
  if (numeric[0] && numeric[1]) return left.length - right.length || compareText(left, right);
  if (numeric[0] !== numeric[1]) return numeric[0] ? -1 : 1;
  return compareText(left, right);
}

function compareText(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
