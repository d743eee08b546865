import type { Client } from '../../client/client.js';
import { regen, say, type Text } from '../../contract/schema/message.js';
import type { Bill, KeyLimits, SpendingKey } from '../../flows/keys/spending-key.js';
import { toFailure } from '../command/to-failure.js';
import type { Needs } from '../connect/context.js';
import { formatCount } from '../terminal/text.js';

/** Creates an API key that can spend a number of credits. If it cannot be extended, that is a warning. */
export async function openLimitedKey(
  { output, system, signal }: Needs<'output' | 'system' | 'signal'>,
  client: Client,
  limits: KeyLimits,
): Promise<SpendingKey> {
  // Loaded here, because it needs the contract.
  const { openSpendingKey } = await import('../../flows/keys/spending-key.js');
  return openSpendingKey({
    ...{ client, limits, signal, now: system.now, sleep: system.sleep },
    onFailure: (error, expiresAt) =>
      output.warn(`Could not extend the API key, which ends at ${expiresAt}: ${toFailure(error).message}`),
  });
}

/** Revokes the key and prints what its tasks cost. Problems are warnings: the exit code does not depend on them. */
export async function endKey(
  { output }: Needs<'output'>,
  key: SpendingKey,
  limit: number,
): Promise<Bill | undefined> {
  try {
    await key.revoke();
  } catch (error) {
    await output.warn(
      say`Could not revoke the API key, which ends at ${key.expiresAt}: ${toFailure(error).message} Revoke it with: ${regen('key revoke', key.id)}`,
    );
  }
  try {
    const bill = await key.readBill();
    await output.note(describeBill(bill, limit), ...describeUnfinished(bill));
    return bill;
  } catch (error) {
    await output.warn(
      say`Could not read what the tasks cost: ${toFailure(error).message} See it with: ${regen('usage', '--by key')}`,
    );
    return undefined;
  }
}

function describeBill({ tasks, credits, refunded }: Bill, limit: number): string {
  if (tasks === 0) return `No task was started; none of the ${limit} credits was spent.`;
  const given = refunded > 0 ? `; ${refunded} were refunded` : '';
  return `${formatCount(tasks, 'task')} cost ${credits} of ${limit} credits${given}.`;
}

function describeUnfinished({ unfinished }: Bill): Text[] {
  if (unfinished.length === 0) return [];
  const ids = unfinished.slice(0, 10).map(({ task_id }) => task_id);
  const verb = unfinished.length === 1 ? 'is' : 'are';
  return [
    say`${formatCount(unfinished.length, 'task')} ${verb} still running. See: ${regen('task wait', ids.join(' '))}`,
  ];
}
