import { realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import { TOOL_INSTRUCTIONS } from '../../contract/tool-texts.js';
import { isFolder } from '../../flows/save-file.js';
import type { TaskServices } from '../../flows/tasks/task.js';
import type { ToolCall } from '../../wire/mcp.js';
import type { FolderTools } from '../agents/folder-tools.js';
import { serveLines } from '../agents/serve-lines.js';
import { readNumber, readText } from '../command/command.js';
import { version } from '../command/version.js';
import type { CommandContext } from '../connect/context.js';
import { usage } from '../terminal/failure.js';
import type { System } from '../terminal/system.js';
import type { View } from '../views/view.js';

export const view = (): View => ({
  usage: 'mcp [dir]',
  summary: 'Serve tools to an agent on standard input and output, with the Model Context Protocol',
  explain: { dir: 'The only folder whose files the agent can name (default: the current folder)' },
  flags: {
    '--tools <names>':
      'More tools than the default ones, separated by commas, such as version_publish or publisher_*',
    '--max-credits <number>':
      'Credits that all tasks of the agent may cost together, which the service enforces; default: what you may spend',
  },
  notes: ['An agent ends what it waits for by ending this command; tasks that were started go on.'],
  examples: ['regen mcp ~/pictures', 'regen mcp . --tools version_publish,version_list'],
});

export async function run(context: CommandContext): Promise<void> {
  const { args, flags, system, signal, output } = context;
  const dir = resolve(system.cwd, (args.dir as string | undefined) ?? '.');
  if (!isFolder(dir)) throw usage(`${dir} is not a folder.`);
  const folder = realpathSync(dir);
  const patterns = (readText(flags, 'tools') ?? '').split(',').flatMap((name) => name.trim() || []);
  const credits = readNumber(flags, 'max-credits', { max: 1_000_000_000 });
  let opened: ReturnType<typeof openTools> | undefined;
  // Loads the contract and reaches the service, which the first answer does not need.
  const open = () => {
    opened ??= openTools(context, { folder, patterns, credits });
    opened.catch(() => {
      opened = undefined;
    });
    return opened;
  };
  if (patterns.length > 0) await open();
  if (system.stdin.isTTY)
    await output.note(
      'Waiting for an agent on standard input: its client starts this command. Press Ctrl-C to end.',
    );
  const server = {
    ...{ version, instructions: TOOL_INSTRUCTIONS },
    listTools: async () => (await open()).tools.listTools(),
    callTool: async (call: ToolCall) => (await open()).tools.callTool(call),
  };
  try {
    await serveLines(system.stdin, system.stdout, server).catch((error) => {
      // An interruption ends standard input.
      if (!signal.aborted) throw error;
    });
  } finally {
    const { end } = (await opened?.catch(() => undefined)) ?? {};
    await end?.();
  }
}

interface ToolChoice {
  readonly folder: string;
  readonly patterns: readonly string[];
  /** What the agent may spend; absent: what its user may. */
  readonly credits: number | undefined;
}

interface OpenedTools {
  readonly tools: FolderTools;
  /** Ends the key of the agent and prints its bill. */
  readonly end?: () => Promise<unknown>;
}

/** The name of the keys of agents, which go on with the tasks of each other. */
const PROGRAM = 'regen mcp';

async function openTools(
  context: CommandContext,
  { folder, patterns, credits }: ToolChoice,
): Promise<OpenedTools> {
  const { services, system, connect, output } = context;
  const { FolderTools } = await import('../agents/folder-tools.js');
  const { target } = services;
  services.isChanging = true;
  const forgetEmbedded = () => services.forgetEmbedded();
  const create = (reach: TaskServices['reach'], env: System['env'], key?: string) => {
    const reached = { target, isTargetGiven: true, reach, forgetEmbedded };
    return new FolderTools({ ...context, folder, reached, env, ...(key && { key }) }, patterns);
  };
  // Also refuses wrong names of tools before a key is created.
  const tools = create(() => services.reach(), system.env);
  const leftOut = tools.leftOut.join(', ');
  if (leftOut) await output.warn(`An API key cannot be used for these tools, which are left out: ${leftOut}`);
  if (credits === undefined) return { tools };
  const { endKey, openLimitedKey } = await import('../agents/limited-key.js');
  const { client: own, url, local } = await services.reach();
  const key = await openLimitedKey(context, own, { name: PROGRAM, credits });
  const client = await connect(url, key.token, { ...target, socketPath: local?.socket });
  const { withoutCredentials } = await import('../terminal/child-program.js');
  const env = { ...withoutCredentials(system.env), REGEN_BASE_URL: url, REGEN_TOKEN: key.token };
  return { tools: create(async () => ({ client }), env, PROGRAM), end: () => endKey(context, key, credits) };
}
