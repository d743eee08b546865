import type { z } from 'zod';
import { ServiceError } from '../../client/errors.js';
import { getOperation } from '../../contract/index.js';
import type { TaskAccount } from '../../contract/task.js';
import type { Invocation } from '../command/invocation.js';
import type { Task } from './task.js';

type Account = z.output<typeof TaskAccount>;

/** What a task cost, its seed, and why it failed; undefined where the service does not tell. */
export async function accountOf(invocation: Invocation, { id, target }: Task): Promise<Account | undefined> {
  const { client } = await invocation.service(target);
  try {
    const input = { task_id: id };
    const { data } = await client.request(getOperation('task.get'), input as never, {
      signal: invocation.signal,
    });
    return data as Account;
  } catch (error) {
    if (error instanceof ServiceError && [404, 405].includes(error.status)) return undefined;
    throw error;
  }
}
