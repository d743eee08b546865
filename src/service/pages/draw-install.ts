import { type Html, html } from './html.js';

/** The commands that install a node: the latest version, unless one is given. */
export function drawInstall({
  id,
  version,
  hasOtherNames,
}: {
  readonly id: string;
  readonly version?: string;
  readonly hasOtherNames: boolean;
}): Html {
  const named = version === undefined ? id : `${id}@${version}`;
  const commands = [`regen node install ${named} --into ComfyUI/custom_nodes`];
  if (hasOtherNames && version === undefined) commands.push(`comfy node registry-install ${id}`);
  return html`${commands.map((command) => html`<pre><code>${command}</code></pre>\n`)}${
    hasOtherNames &&
    html`<p>Or search for <code>${id}</code> in ComfyUI-Manager${version !== undefined && `, and choose version ${version} there`}.</p>`
  }`;
}
