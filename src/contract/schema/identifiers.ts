import { z } from 'zod';
import { MAX_NODE_ID, NODE_ID } from './node-id.js';
import { SEMANTIC_VERSION, suggestSemanticVersion } from './semantic-version.js';

/** Text that is too long is not checked further: regular expressions overflow the stack on megabytes. */
const ABORT = { abort: true } as const;

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

export const NodeId = z
  .string()
  .min(1)
  .max(MAX_NODE_ID, ABORT)
  .regex(NODE_ID, "must be letters, digits, '.', '_' and '-', with a letter or digit at both ends");

// 254 characters: the longest address that mail can be sent to.
export const EmailAddress = z.string().max(254, ABORT).check(z.email());

export const DateTime = z.iso.datetime({ offset: true });
