/** The regular expression of strict SemVer 2.0.0 that semver.org publishes. */
export const SEMANTIC_VERSION =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-((?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?(?:\+([0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*))?$/;

const PRE_RELEASE_NAMES: Record<string, string> = {
  a: 'alpha',
  b: 'beta',
  c: 'rc',
  pre: 'rc',
  preview: 'rc',
};

/**
 * Suggests the SemVer spelling of a version written as people and PEP 440 do: `v1.2` → `1.2.0`, `1.0rc1` →
 * `1.0.0-rc.1`.
 * @returns undefined if no spelling is obvious
 */
export function suggestSemanticVersion(text: string): string | undefined {
  const loose =
    /^\s*v?(\d+)(?:\.(\d+))?(?:\.(\d+))?(?:[-_.]?([a-z]+)[-_.]?(\d+)?)?(?:\+([0-9a-z.-]+))?\s*$/i.exec(text);
  if (!loose) return undefined;
  const [, major, minor = '0', patch = '0', word, count, build] = loose;
  // Another letter alone is a digit that was mistyped, as in 1.0.O.
  if (word?.length === 1 && !PRE_RELEASE_NAMES[word.toLowerCase()]) return undefined;
  const core = [major, minor, patch].map((part) => String(BigInt(part as string))).join('.');
  const name = word && (PRE_RELEASE_NAMES[word.toLowerCase()] ?? word.toLowerCase());
  const preRelease = name ? `-${name}${count === undefined ? '' : `.${BigInt(count)}`}` : '';
  const spelling = `${core}${preRelease}${build ? `+${build}` : ''}`;
  return isSemanticVersion(spelling) ? spelling : undefined;
}

/**
 * Completes what other registries take for a version: `1.2` and `v1.2.0` become `1.2.0`, and `1.2-beta` becomes
 * `1.2.0-beta`. Any other text stays.
 */
export function completeVersion(text: string): string {
  const [, core, rest = ''] = /^v?(\d+(?:\.\d+){0,2})([-+][0-9A-Za-z.+-]+)?$/.exec(text.slice(0, 256)) ?? [];
  const spelling = core && `${suggestSemanticVersion(core)}${rest}`;
  return spelling && isSemanticVersion(spelling) ? spelling : text;
}

export function isSemanticVersion(text: string): boolean {
  return text.length <= 256 && SEMANTIC_VERSION.test(text);
}

/** Stands for the version of a node that is installed by default. */
export const LATEST = 'latest';
