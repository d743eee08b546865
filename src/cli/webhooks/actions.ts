import { spawn } from 'node:child_process';
import { Agent, request } from 'undici';
import { type FlagValues, readText } from '../command/command.js';
import type { Output } from '../terminal/output.js';
import type { System } from '../terminal/system.js';
import { readAddress } from './address.js';
import type { Event } from './event.js';
import { done, isDone, type Reply } from './inbox.js';

interface ActionsContext {
  readonly flags: FlagValues;
  readonly output: Output;
  readonly system: Pick<System, 'cwd' | 'env' | 'stderr'>;
  readonly signal: AbortSignal;
}

/** What `--forward-to` and `--exec` ask for: the first that fails is the answer. */
export function createActions(context: ActionsContext): (event: Event) => Promise<Reply> {
  const to = readAddress(context.flags, 'forward-to');
  const command = readText(context.flags, 'exec');
  return async (event) => {
    const forwarded = to ? await forwardEvent(context, new URL(to), event) : done;
    if (!isDone(forwarded) || command === undefined) return forwarded;
    return runCommand(context, command, event);
  };
}

/** Headers that belong to one connection, not to the request. */
const ofConnection = [
  ...['connection', 'keep-alive', 'host', 'content-length', 'transfer-encoding', 'te', 'trailer'],
  ...['expect', 'upgrade', 'proxy-connection', 'proxy-authorization', 'proxy-authenticate'],
];

/** Passes on the body byte by byte and the headers as they came; what is answered is the answer. */
async function forwardEvent({ output, signal }: ActionsContext, to: URL, event: Event): Promise<Reply> {
  const agent = new Agent({ connections: 1 });
  try {
    const headers = Object.entries(event.headers).filter(
      ([name]) => !ofConnection.includes(name.toLowerCase()),
    );
    const answer = await request(to, {
      method: 'POST',
      dispatcher: agent,
      headers: Object.fromEntries(headers) as Record<string, string | string[]>,
      body: event.body,
      signal: AbortSignal.any([signal, AbortSignal.timeout(60_000)]),
    });
    // Nothing of what is answered but its status is of interest.
    answer.body.on('error', () => {}).destroy();
    const status = answer.statusCode;
    await output.note(`Forwarded ${event.id} to ${to.origin}: ${status}.`);
    return { status, retryAfter: answer.headers['retry-after']?.toString() };
  } catch (error) {
    signal.throwIfAborted();
    const { code, message } = error as NodeJS.ErrnoException;
    await output.warn(
      `${to.origin} could not be reached (${code ?? message}); the service will send ${event.id} again.`,
    );
    return { status: 502 };
  } finally {
    await agent.destroy();
  }
}

// Decided: the command is a line for the shell, as the user typed it. What came from outside is on its standard input
// and in variables alone, never in the line. Its output goes to stderr: stdout is for events.
/** Runs a command with the body on its standard input; anything but exit 0 makes the service send it again. */
async function runCommand(
  { system, output, signal }: ActionsContext,
  command: string,
  event: Event,
): Promise<Reply> {
  const child = spawn(command, {
    shell: true,
    cwd: system.cwd,
    env: {
      ...system.env,
      REGEN_WEBHOOK_ID: event.id,
      REGEN_WEBHOOK_EVENT: event.name,
      REGEN_WEBHOOK_TASK_ID: event.taskId ?? '',
      REGEN_WEBHOOK_STATE: event.seen?.state ?? '',
    },
    stdio: 'pipe',
    signal,
  });
  for (const from of [child.stdout, child.stderr])
    from.on('data', (chunk) => void system.stderr.write(chunk));
  // A command need not read what it is given.
  child.stdin.on('error', () => {}).end(event.body);
  const code = await new Promise<number | string>((ended) => {
    child.once('error', (error) => ended(error.message));
    child.once('close', (exit, killed) => ended(exit ?? killed ?? 'unknown'));
  });
  signal.throwIfAborted();
  if (code === 0) return done;
  await output.warn(`The command ended with ${code}; the service will send ${event.id} again.`);
  return { status: 500 };
}
