import { stringify } from 'smol-toml';

/** The values of a new `pyproject.toml`. */
export interface NewPyproject {
  readonly id: string;
  /** Display name. */
  readonly name: string;
  readonly publisher: string;
  readonly version: string;
  readonly description?: string | undefined;
  /** The path of the licence file, or the name of the licence. */
  readonly license?: { readonly file: string } | { readonly text: string } | undefined;
  readonly repository?: string | undefined;
  readonly dependencies: readonly string[];
}

/** Formats a `pyproject.toml` that `readManifest` can read. */
export function formatPyproject(pack: NewPyproject): string {
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
