/** A problem of a node pack: a key of pyproject.toml or a path, and a sentence without its subject. */
export interface PackProblem {
  /** `[project] version`, `pyproject.toml:3:5` or `web/nodes.js`. */
  readonly where: string;
  /** `must be a string`, `points outside the pack`. */
  readonly message: string;
}

/** An error that the user can fix, in one sentence that names the file. Any other error is a bug or a disk error. */
export class PackError extends Error {
  override readonly name = 'PackError';
}
