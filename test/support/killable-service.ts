import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { onTestFinished } from 'vitest';
import type { ConfigurationInput } from '../../src/service/configuration/configuration.js';

/** A service in a process of its own, which can be killed at any moment. */
export interface KillableService {
  readonly url: string;
  /** The token of its owner, or of the user that was asked for. */
  readonly token: string;
  /** `kill -9`. @returns once the process has ended */
  kill(): Promise<void>;
}

/**
 * Starts a service in a process of its own.
 * @param user whose token is given, in place of the owner's
 */
export async function killableServiceForTest(
  configuration: ConfigurationInput,
  user?: string,
): Promise<KillableService> {
  const program = ['dist/test/service-process.js', JSON.stringify(configuration)];
  const child = spawn(process.execPath, program, { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
  const exit = once(child, 'exit');
  const kill = async () => {
    child.kill('SIGKILL');
    await exit;
  };
  onTestFinished(kill);
  const started = once(child, 'message');
  const failed = exit.then(([code]) => Promise.reject(new Error(`The service ended with ${code}.`)));
  const [{ url, ownerToken }] = await Promise.race([started, failed]);
  if (user === undefined) return { url, token: ownerToken, kill };
  child.send({ sub: user });
  const [{ token }] = await once(child, 'message');
  return { url, token, kill };
}

/** A way to kill a service at a moment that a proxy tells. */
export interface KillSwitch {
  /** Kills what is to be killed, once. */
  press(): Promise<void>;
  /** Resolves once it was pressed. @param kill what pressing does */
  aim(kill: () => Promise<void>): Promise<void>;
}

export function createKillSwitch(): KillSwitch {
  let kill = async () => {};
  return {
    press: () => kill(),
    aim: (given) =>
      new Promise<void>((done) => {
        kill = async () => {
          kill = async () => {};
          await given();
          done();
        };
      }),
  };
}
