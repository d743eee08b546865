/** One thing wrong with a node pack: where (a key of pyproject.toml or a file's path) and a sentence without its subject. */
export interface PackProblem {
  /** `[project] version`, `pyproject.toml:3:5` or `web/nodes.js`. */
  readonly where: string;
  /** `must be a string`, `points outside the pack`. */
  readonly message: string;
}

/** A failure that the user can fix, in one sentence that names the file. Anything else thrown is a bug or a broken disk. */
export class PackError extends Error {
  override readonly name = 'PackError';
}
