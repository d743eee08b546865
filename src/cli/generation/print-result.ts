import { createHash } from 'node:crypto';
import { PassThrough } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { checkDigest } from '../../flows/digest.js';
import type { Task, TaskContext } from '../../flows/tasks/task.js';
import type { TaskState } from '../../flows/tasks/task-state.js';
import type { FlagValues } from '../command/command.js';
import { usage } from '../terminal/failure.js';
import type { System } from '../terminal/system.js';

/**
 * Whether `--output -` asks for the bytes of the result on stdout.
 * @param count how many tasks the command has
 * @throws Failure if stdout cannot hold them
 */
export function printsBytes(flags: FlagValues, { stdout }: Pick<System, 'stdout'>, count: number): boolean {
  if (flags.output !== '-') return false;
  if (count > 1)
    throw usage(
      `--output - takes exactly one result; ${count} were requested.`,
      'For several, pass a folder: -o results/',
    );
  const other = ['json', 'ndjson', 'jq', 'receipt', 'force', 'open'].find(
    (name) => flags[name] !== undefined,
  );
  if (other) throw usage(`--output - and --${other} cannot be used together.`);
  if (stdout.isTTY)
    throw usage('--output - would write binary data to the terminal.', 'Pipe it, or pass a file.');
  return true;
}

export async function downloadResult(
  { services, signal }: TaskContext,
  { target }: Task,
  { outputs }: TaskState,
): Promise<Buffer> {
  const { client } = await services.reach(target);
  const to = new PassThrough();
  const [{ headers }, bytes] = await Promise.all([
    client.download(outputs[0] as string, { to, signal }),
    buffer(to),
  ]);
  checkDigest(headers['repr-digest'], createHash('sha256').update(bytes).digest('hex'));
  return bytes;
}
