import { z } from 'zod';

/** After a text that is too long nothing more is asked: expressions overflow the stack on megabytes. */
const abort = { abort: true } as const;

/** Strict SemVer 2.0.0, the expression published on semver.org. */
const semanticVersion =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-((?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?(?:\+([0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*))?$/;

const preReleaseNames: Record<string, string> = { a: 'alpha', b: 'beta', c: 'rc', pre: 'rc', preview: 'rc' };

/**
 * The SemVer spelling of what people and PEP 440 write: `v1.2` → `1.2.0`, `1.0rc1` → `1.0.0-rc.1`.
 * `undefined` where no spelling is obvious.
 */
export function semanticVersionSpelling(text: string): string | undefined {
  const loose =
    /^\s*v?(\d+)(?:\.(\d+))?(?:\.(\d+))?(?:[-_.]?([a-z]+)[-_.]?(\d+)?)?(?:\+([0-9a-z.-]+))?\s*$/i.exec(text);
  if (!loose) return undefined;
  const [, major, minor = '0', patch = '0', word, count, build] = loose;
  const core = [major, minor, patch].map((part) => String(BigInt(part as string))).join('.');
  const name = word && (preReleaseNames[word.toLowerCase()] ?? word.toLowerCase());
  const preRelease = name ? `-${name}${count === undefined ? '' : `.${BigInt(count)}`}` : '';
  const spelling = `${core}${preRelease}${build ? `+${build}` : ''}`;
  return isSemanticVersion(spelling) ? spelling : undefined;
}

export function isSemanticVersion(text: string): boolean {
  return text.length <= 256 && semanticVersion.test(text);
}

function notSemantic(text: unknown): string {
  const spelling = typeof text === 'string' ? semanticVersionSpelling(text) : undefined;
  return spelling
    ? `'${text}' is not a semantic version; write ${spelling}`
    : 'must be a semantic version such as 1.0.0 or 2.1.0-rc.1';
}

// Decided: a version string is strict SemVer 2.0.0; `v1.2` and `1.0` are refused with the corrected spelling.
export const SemanticVersion = z
  .string()
  .max(256, abort)
  .regex(semanticVersion, { error: (issue) => notSemantic(issue.input) });

// Decided: publisher ids are 3 to 50 of lowercase letters, digits and hyphens, a letter first.
export const PublisherId = z
  .string()
  .min(3)
  .max(50, abort)
  .regex(/^[a-z][a-z0-9-]*$/, 'must be lowercase letters, digits and hyphens, with a letter first');

// Decided: node ids are 1 to 100 of letters, digits, dot, underscore and hyphen; a letter or digit at both ends.
export const NodeId = z
  .string()
  .min(1)
  .max(100, abort)
  .regex(
    /^[a-zA-Z0-9](?:[a-zA-Z0-9._-]*[a-zA-Z0-9])?$/,
    "must be letters, digits, '.', '_' and '-', with a letter or digit at both ends",
  );

// 254: the longest address that mail can be sent to.
export const EmailAddress = z.string().max(254, abort).check(z.email());

export const DateTime = z.iso.datetime({ offset: true });
