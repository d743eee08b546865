import { Refused } from '../refused.js';

// Decided: ids in a body may be absent; where present they equal the path.
/**
 * @param ids the id in the body, its place there, and the path's
 * @throws Refused invalid_request naming every id that differs
 */
export function requireSameIds(
  ...ids: readonly { readonly path: string; readonly given: string | undefined; readonly expected: string }[]
): void {
  const details = ids
    .filter(({ given, expected }) => given !== undefined && given !== expected)
    .map(({ path, expected }) => ({ path, message: `must be ${expected}, as in the path, or absent` }));
  if (details.length === 0) return;
  const sentences = details.map(({ path, message }) => `${path} ${message}`);
  throw new Refused('invalid_request', `${sentences.join('; ')}.`, details);
}
