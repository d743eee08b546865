import { type Html, html } from './html.js';
import { DOCS } from './page.js';

/** The command that installs a node: the latest version, unless one is given. */
export function drawInstall({
  id,
  version,
  isDeprecated,
  hasOtherNames,
  serviceFlag,
}: {
  readonly id: string;
  readonly version?: string;
  /** Whether this version is installed only by those who allow it. */
  readonly isDeprecated?: boolean | undefined;
  readonly hasOtherNames: boolean;
  readonly serviceFlag: string;
}): Html {
  const named = version === undefined ? id : `${id}@${version}`;
  const allow = isDeprecated ? ' --allow deprecated' : '';
  // No command of comfy-cli to copy: it would install what the public registry has under this name.
  return html`<pre><code>regen node install ${named}${allow} --into ComfyUI/custom_nodes${serviceFlag}</code></pre>\n${
    hasOtherNames &&
    html`<p>comfy-cli and ComfyUI-Manager ask the public registry until they are <a href="${DOCS}/private-registry.md#publish-and-install" rel="noopener noreferrer">set up for this one</a>.</p>`
  }`;
}
