import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { onTestFinished } from 'vitest';
import type { ConfigurationInput } from '../../src/service/configuration/configuration.js';
import { type Answered, folderForTest } from './service.js';

interface ProcessOptions {
  /** The program that runs it, and its arguments, such as `unshare --mount`. */
  readonly within?: readonly string[];
  /** An argument of `service-process.ts`. */
  readonly more?: string;
}

/** A service in a process of its own, which can be killed. Its data is in a new folder, unless the configuration says. */
export async function serviceProcessForTest(
  configuration: ConfigurationInput,
  { within = [], more = '' }: ProcessOptions = {},
) {
  const script = 'dist/test/service-process.js';
  const settings = JSON.stringify({ data: folderForTest(), ...configuration });
  const [program = '', ...argv] = [...within, process.execPath, script, settings, more];
  const child = spawn(program, argv, {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const exit = once(child, 'exit');
  /** Kills it, as a power cut would. */
  const kill = async () => {
    child.kill('SIGKILL');
    await exit;
  };
  onTestFinished(kill);
  /** The next message that has this field. */
  const receive = (field: string) =>
    new Promise<Answered>((resolve, reject) => {
      child.on('message', (received: object) => field in received && resolve(received));
      child.once('exit', (code) => reject(new Error(`The service's process ended with ${code}.`)));
    });
  const { url, ownerToken }: Record<string, string> = await receive('url');
  return { child, url: url as string, ownerToken: ownerToken as string, token: ownerToken, receive, kill };
}
