import { join } from 'node:path';
import { z } from 'zod';
import { ServiceError } from '../../client/errors.js';
import { splitNodeVersion } from '../../contract/schema/node-id.js';
import { writePrivateFile } from '../../disk/private-file.js';
import { readText } from '../command/command.js';
import type { Needs } from '../connect/context.js';
import type { Service } from '../connect/services.js';
import { hasBrowser, openBrowser } from '../sign-in/opener.js';
import { usage } from '../terminal/failure.js';
import { Text } from '../views/answers.js';
import type { View } from '../views/view.js';

type Context = Needs<'args' | 'flags' | 'output' | 'signal' | 'services' | 'folders' | 'system'>;

export const view = (): View => ({
  usage: 'open [node]',
  summary: 'Open the page of a node, a version, a publisher or your tasks in the browser',
  explain: { node: 'node or node@version (default: the front page)' },
  flags: {
    '--publisher <publisherId>': 'Open the page of a publisher',
    '--tasks': 'Open the page of your tasks',
    '--print': 'Only print the address, which signs in once and within a minute',
  },
  answer: z.object({ url: Text }),
  examples: ['regen open hello-nodes', 'regen open hello-nodes@1.0.0', 'regen open --tasks'],
});

/** The public registry has pages of its own, on another host. */
const OTHER_PAGES: Readonly<Record<string, string>> = {
  'https://api.comfy.org': 'https://registry.comfy.org',
};

export async function run(context: Context): Promise<void> {
  const { args, flags, output, services, system, folders } = context;
  const page = choosePage(
    args.node as string | undefined,
    readText(flags, 'publisher'),
    flags.tasks === true,
  );
  const service = await services.reach();
  const others = OTHER_PAGES[new URL(service.url).origin];
  const address = others
    ? others + page
    : await createLink(context, service, page === '/' ? page : `/web${page}`);
  const isPrinted = flags.print === true || output.mode.json === true || output.mode.ndjson === true;
  if (isPrinted || !hasBrowser(system)) {
    if (!isPrinted && address.includes('/web/sign-in?'))
      await output.note('No browser was found. This link signs you in once, within a minute:');
    return output.answer({ url: address }, { only: 'url' });
  }
  await output.note(`Opening ${service.url} in the browser.`);
  // Other users of the machine can read the arguments of a browser, so the link that signs in is in a private file.
  const file = join(folders.state, 'open.html');
  writePrivateFile(
    file,
    `<!doctype html>\n<meta http-equiv="refresh" content="0; url=${escapeAttribute(address)}">\n`,
  );
  openBrowser(system, file);
}

function choosePage(named: string | undefined, publisher: string | undefined, tasks: boolean): string {
  if ([named !== undefined, publisher !== undefined, tasks].filter(Boolean).length > 1)
    throw usage('Name a node, or pass --publisher or --tasks, but only one of them.');
  if (tasks) return '/tasks';
  if (publisher !== undefined) return `/publishers/${encodeURIComponent(publisher)}`;
  if (named === undefined) return '/';
  const [node, version] = splitNodeVersion(named);
  const path = `/nodes/${encodeURIComponent(node)}`;
  return !version ? path : `${path}/versions/${encodeURIComponent(version)}`;
}

/** @returns a link that signs in, if there is a sign-in and the service has such links */
async function createLink(
  { signal }: Context,
  { url, client, credential }: Service,
  path: string,
): Promise<string> {
  if (!credential) return url + path;
  try {
    return (await client.user.openPage({ body: { path } }, { signal })).url;
  } catch (error) {
    // A token of a publisher, or another kind of service: the page is shown as to anyone.
    if (error instanceof ServiceError && [401, 403, 404, 405].includes(error.status)) return url + path;
    throw error;
  }
}

function escapeAttribute(text: string): string {
  return text.replace(/[&"<>]/g, (character) => `&#${character.charCodeAt(0)};`);
}
