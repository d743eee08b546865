import { isLoopbackHost } from '../../contract/schema/loopback.js';
import { type Html, html } from './html.js';

/** The commands that install a node: the latest version, unless one is given. */
export function drawInstall({
  id,
  version,
  isDeprecated,
  hasOtherNames,
  baseUrl,
}: {
  readonly id: string;
  readonly version?: string;
  /** Whether this version is installed only by those who allow it. */
  readonly isDeprecated?: boolean | undefined;
  readonly hasOtherNames: boolean;
  readonly baseUrl: string;
}): Html {
  const named = version === undefined ? id : `${id}@${version}`;
  const allow = isDeprecated ? ' --allow deprecated' : '';
  const commands = [`regen node install ${named}${allow} --into ComfyUI/custom_nodes${nameService(baseUrl)}`];
  if (hasOtherNames && version === undefined) commands.push(`comfy node registry-install ${id}`);
  return html`${commands.map((command) => html`<pre><code>${command}</code></pre>\n`)}${
    hasOtherNames &&
    html`<p>Or search for <code>${id}</code> in ComfyUI-Manager${version !== undefined && `, and choose version ${version} there`}.</p>`
  }`;
}

/** The flag that names this service, unless it is on the reader's machine, where commands find it. */
export function nameService(baseUrl: string): string {
  return isLoopbackHost(new URL(baseUrl).hostname) ? '' : ` --base-url ${baseUrl}`;
}
