import { stringify } from 'smol-toml';

/** What a new `pyproject.toml` says. */
export interface NewPyproject {
  readonly id: string;
  /** Display name. */
  readonly name: string;
  readonly publisher: string;
  readonly version: string;
  readonly description?: string | undefined;
  /** The licence file's path, or the licence's own name. */
  readonly license?: { readonly file: string } | { readonly text: string } | undefined;
  readonly repository?: string | undefined;
  readonly dependencies: readonly string[];
}

/** The file's text; `readManifest` reads it back. */
export function newPyproject(pack: NewPyproject): string {
  const { id, name, publisher, version, description, license, repository, dependencies } = pack;
  return `${stringify({
    project: {
      name: id,
      version,
      ...(description && { description }),
      ...(license && { license }),
      dependencies: [...dependencies],
      ...(repository && { urls: { Repository: repository } }),
    },
    tool: { hostui: { PublisherId: publisher, DisplayName: name } },
  }).trimEnd()}\n`;
}
