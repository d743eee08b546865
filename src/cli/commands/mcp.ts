import { realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import { TOOL_INSTRUCTIONS } from '../../contract/tool-texts.js';
import { isFolder } from '../../flows/save-file.js';
import type { ToolCall } from '../../wire/mcp.js';
import type { FolderTools } from '../agents/folder-tools.js';
import { serveLines } from '../agents/serve-lines.js';
import { readText } from '../command/command.js';
import { version } from '../command/version.js';
import type { CommandContext } from '../connect/context.js';
import { usage } from '../terminal/failure.js';
import type { View } from '../views/view.js';

export const view = (): View => ({
  usage: 'mcp [dir]',
  summary: 'Serve tools to an agent on standard input and output, with the Model Context Protocol',
  explain: { dir: 'The only folder whose files the agent can name (default: the current folder)' },
  flags: {
    '--tools <names>':
      'More tools than the default ones, separated by commas, such as version_publish or publisher_*',
  },
  notes: ['An agent ends what it waits for by ending this command; tasks that were started go on.'],
  examples: ['regen mcp ~/pictures', 'regen mcp . --tools version_publish,version_list'],
});

export async function run(context: CommandContext): Promise<void> {
  const { args, flags, system, services, signal } = context;
  const dir = resolve(system.cwd, (args.dir as string | undefined) ?? '.');
  if (!isFolder(dir)) throw usage(`${dir} is not a folder.`);
  const folder = realpathSync(dir);
  const patterns = (readText(flags, 'tools') ?? '').split(',').flatMap((name) => name.trim() || []);
  const reached = {
    target: services.target,
    isTargetGiven: true,
    reach: () => services.reach(),
    forgetEmbedded: () => services.forgetEmbedded(),
  };
  let opened: Promise<FolderTools> | undefined;
  // Loads the contract, which the first answer does not need.
  const open = () => {
    opened ??= import('../agents/folder-tools.js').then(
      ({ FolderTools }) => new FolderTools({ ...context, folder, reached, env: system.env }, patterns),
    );
    return opened;
  };
  if (patterns.length > 0) await open();
  const server = {
    ...{ version, instructions: TOOL_INSTRUCTIONS },
    listTools: async () => (await open()).listTools(),
    callTool: async (call: ToolCall) => (await open()).callTool(call),
  };
  await serveLines(system.stdin, system.stdout, server).catch((error) => {
    // An interruption ends standard input.
    if (!signal.aborted) throw error;
  });
}
