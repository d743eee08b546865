/**
 * Whether an error has a code, of ours or of Node.js. Errors that cross files of the build are recognised by their code:
 * a class that two of them contain is two classes.
 */
export function hasCode<Code extends string>(
  error: unknown,
  ...codes: readonly Code[]
): error is Error & { readonly code: Code } {
  return codes.includes((error as { readonly code?: Code } | null | undefined)?.code as Code);
}
