import { readText } from '../command/command.js';
import type { Needs } from '../connect/context.js';
import { runWithInput } from '../terminal/run-program.js';
import { oneLine } from '../terminal/text.js';
import type { Event } from './event.js';
import { DONE, isDone, type Reply } from './inbox.js';
import { postEvent, readAddress } from './post-event.js';

type ActionsContext = Needs<'flags' | 'output' | 'system' | 'signal'>;

/** Runs `--forward-to` and `--exec`, and replies with the first failure. */
export function createActions(context: ActionsContext): (event: Event) => Promise<Reply> {
  const to = readAddress(context.flags, 'forward-to');
  const command = readText(context.flags, 'exec');
  return async (event) => {
    const forwarded = to ? await forwardEvent(context, new URL(to), event) : DONE;
    if (!isDone(forwarded) || command === undefined) return forwarded;
    return runCommand(context, command, event);
  };
}

const CONNECTION_HEADERS = [
  ...['connection', 'keep-alive', 'host', 'content-length', 'transfer-encoding', 'te', 'trailer'],
  ...['expect', 'upgrade', 'proxy-connection', 'proxy-authorization', 'proxy-authenticate'],
];

/** Forwards the unchanged body and headers, and replies with the status of the response. */
async function forwardEvent({ output, signal }: ActionsContext, to: URL, event: Event): Promise<Reply> {
  try {
    const headers = Object.entries(event.headers).filter(
      ([name]) => !CONNECTION_HEADERS.includes(name.toLowerCase()),
    );
    const reply = await postEvent(to, {
      headers: Object.fromEntries(headers) as Record<string, string | string[]>,
      body: event.body,
      signal,
      timeoutMs: 60_000,
    });
    await output.note(`Forwarded ${event.id} to ${to.origin}${to.pathname}: ${reply.status}.`);
    return reply;
  } catch (error) {
    signal.throwIfAborted();
    await output.warn(`${(error as Error).message} The service will send ${event.id} again.`);
    return { status: 502 };
  }
}

/** Runs a command, as the user typed it, with the body on its standard input. Any exit code but 0 makes the service send it again. */
async function runCommand(
  { system, output, signal }: ActionsContext,
  command: string,
  event: Event,
): Promise<Reply> {
  const variables = {
    REGEN_WEBHOOK_ID: event.id,
    REGEN_WEBHOOK_EVENT: event.name,
    REGEN_WEBHOOK_TASK_ID: oneLine(event.taskId ?? ''),
    REGEN_WEBHOOK_STATE: oneLine(event.seen?.state ?? ''),
  };
  const code = await runWithInput(system, { command, input: event.body, variables, signal });
  if (code === 0) return DONE;
  await output.warn(`The command failed with ${code}. The service will send ${event.id} again.`);
  return { status: 500 };
}
