/**
 * Orders two strict SemVer 2.0.0 strings, oldest first; equal precedence is settled by the build's text, so that
 * every list has one order. Numbers may be of any length: the specification sets no bound, and other people's
 * parsers throw beyond 2^53.
 */
export function compareVersions(left: string, right: string): number {
  const [a, b] = [partsOf(left), partsOf(right)];
  return (
    compareLists(a.core, b.core) ||
    Number(a.preRelease.length === 0) - Number(b.preRelease.length === 0) ||
    compareLists(a.preRelease, b.preRelease) ||
    compareText(a.build, b.build)
  );
}

export function isPreRelease(version: string): boolean {
  return partsOf(version).preRelease.length > 0;
}

function partsOf(version: string): { core: string[]; preRelease: string[]; build: string } {
  const [, core = '', preRelease, build = ''] = /^([^-+]*)(?:-([^+]*))?(?:\+(.*))?$/.exec(version) ?? [];
  return { core: core.split('.'), preRelease: preRelease?.split('.') ?? [], build };
}

/** Identifier by identifier; of two lists alike so far, the shorter is the older. */
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
