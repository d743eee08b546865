import { createHash } from 'node:crypto';
import { isRecord, parseJson } from '../../contract/json.js';
import { Envelope, type PublicKey, TASK_PREDICATE } from '../../contract/statement.js';
import { FlowError } from '../flow-error.js';
import { type KnownKeys, type SigningService, verifyFromService, verifyWith } from './verify-statement.js';

/** Has the service of a task vouch for a receipt; it stays as it is if the service signs nothing. */
export async function addStatement(signer: SigningService, taskId: string, receipt: object): Promise<object> {
  const { client, signal } = signer;
  const digest = computeReceiptDigest(receipt);
  let statement: Envelope | undefined;
  const read = async () => {
    statement = await client.task.statement({ task_id: taskId, receipt: digest }, { signal });
    return statement;
  };
  return (await verifyFromService(signer, read, `the task ${taskId}`)) ? { ...receipt, statement } : receipt;
}

/** What a receipt says that its service vouches for. */
export interface VerifiedReceipt {
  readonly task_id: string;
  readonly service: string;
  readonly operation: string;
  readonly credits: number;
  readonly created_at: string;
  readonly key: string;
}

/**
 * Verifies a receipt without the network.
 * @param sha256 of the file beside it
 * @param keys that are accepted beside the known ones
 * @throws FlowError not_signed, statement_invalid, key_changed, digest_mismatch
 */
export function verifyReceipt(
  text: string,
  sha256: string,
  knownKeys: KnownKeys,
  keys: readonly PublicKey[] = [],
): VerifiedReceipt {
  const whole = parseJson(text);
  if (!isRecord(whole)) throw new FlowError('statement_invalid', 'The receipt was changed: it is not JSON.');
  const { statement, ...receipt } = whole;
  const { service, task_id } = receipt as { readonly service?: string; readonly task_id?: string };
  const envelope = Envelope.safeParse(statement);
  if (!envelope.success)
    throw new FlowError(
      'not_signed',
      'The receipt has no statement of the service, so no one vouches for it.',
    );
  const about = `the task ${task_id}`;
  const verified = verifyWith([...keys, ...knownKeys.find(String(service))], envelope.data, about);
  if (!verified) {
    const kid = envelope.data.signatures[0]?.keyid ?? 'none';
    const message = `The receipt is signed with the key ${kid}, which is not known here as a key of ${service}.`;
    throw new FlowError('key_changed', message, { subject: knownKeys.place });
  }
  const { subject, predicate, predicateType } = verified.statement;
  const names = (digest: string) => subject.some((one) => one.digest.sha256 === digest);
  if (predicateType !== TASK_PREDICATE || !names(computeReceiptDigest(receipt)))
    throw new FlowError('statement_invalid', 'The receipt was changed after the service signed it.');
  if (!names(sha256))
    throw new FlowError('digest_mismatch', `The file is not a result of ${about}, or was changed since.`);
  // A key is known as that of the service in the receipt; what its statement says of itself does not count.
  const facts = predicate as unknown as VerifiedReceipt;
  return { ...facts, service: String(service), task_id: String(task_id), key: verified.kid };
}

/** Of the values, so that another way to write them is no change. */
function computeReceiptDigest(receipt: object): string {
  const text = JSON.stringify(JSON.parse(JSON.stringify(receipt)));
  return createHash('sha256').update(text).digest('hex');
}
