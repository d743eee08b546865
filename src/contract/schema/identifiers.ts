import { z } from 'zod';

/** Text that is too long is not checked further: regular expressions overflow the stack on megabytes. */
const ABORT = { abort: true } as const;

/** The regular expression of strict SemVer 2.0.0 that semver.org publishes. */
const SEMANTIC_VERSION =
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
  const core = [major, minor, patch].map((part) => String(BigInt(part as string))).join('.');
  const name = word && (PRE_RELEASE_NAMES[word.toLowerCase()] ?? word.toLowerCase());
  const preRelease = name ? `-${name}${count === undefined ? '' : `.${BigInt(count)}`}` : '';
  const spelling = `${core}${preRelease}${build ? `+${build}` : ''}`;
  return isSemanticVersion(spelling) ? spelling : undefined;
}

/** Completes `1` and `1.2` to `1.0.0` and `1.2.0`; any other text stays. */
export function completeVersion(text: string): string {
  return /^\d+(\.\d+)?$/.test(text) ? (suggestSemanticVersion(text) ?? text) : text;
}

export function isSemanticVersion(text: string): boolean {
  return text.length <= 256 && SEMANTIC_VERSION.test(text);
}

function describeVersionProblem(text: unknown): string {
  const spelling = typeof text === 'string' ? suggestSemanticVersion(text) : undefined;
  return spelling
    ? `'${text}' is not a semantic version; write ${spelling}`
    : 'must be a semantic version such as 1.0.0 or 2.1.0-rc.1';
}

// Decided: a version string is strict SemVer 2.0.0; `v1.2` and `1.0` are refused with the corrected spelling.
export const SemanticVersion = z
  .string()
  .max(256, ABORT)
  .regex(SEMANTIC_VERSION, { error: (issue) => describeVersionProblem(issue.input) });

// Decided: publisher ids are 3 to 50 lowercase letters, digits and hyphens, starting with a letter.
export const PublisherId = z
  .string()
  .min(3)
  .max(50, ABORT)
  .regex(/^[a-z][a-z0-9-]*$/, 'must be lowercase letters, digits and hyphens, starting with a letter');

// Decided: node ids are 1 to 100 letters, digits, dots, underscores and hyphens, with a letter or digit at
// both ends.
export const NodeId = z
  .string()
  .min(1)
  .max(100, ABORT)
  .regex(
    /^[a-zA-Z0-9](?:[a-zA-Z0-9._-]*[a-zA-Z0-9])?$/,
    "must be letters, digits, '.', '_' and '-', with a letter or digit at both ends",
  );

// 254 characters: the longest address that mail can be sent to.
export const EmailAddress = z.string().max(254, ABORT).check(z.email());

export const DateTime = z.iso.datetime({ offset: true });
