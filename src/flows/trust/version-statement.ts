import { VERSION_PREDICATE } from '../../contract/statement.js';
import { FlowError } from '../flow-error.js';
import { type SigningService, type Verified, verifyFromService } from './verify-statement.js';

/** What a registry says of a version, in a statement that was verified. */
export interface VersionStatement extends Omit<Verified, 'statement'> {
  readonly archive_sha256: string;
  readonly tree_sha256: string;
  readonly registry: string;
  readonly verdict: string;
  readonly created_at?: string;
  readonly provenance?: Readonly<Record<string, string>>;
}

/**
 * Reads and verifies the statement of a registry on a version.
 * @returns undefined if the registry signs nothing, and never did
 * @throws FlowError not_signed, statement_invalid, key_changed
 */
export async function readVersionStatement(
  context: SigningService,
  { nodeId, version }: { readonly nodeId: string; readonly version: string },
): Promise<VersionStatement | undefined> {
  const about = `${nodeId} ${version}`;
  const { client, signal } = context;
  const read = () => client.version.statement({ nodeId, version }, { signal });
  const verified = await verifyFromService(context, read, about);
  if (!verified) return undefined;
  const { statement, ...rest } = verified;
  const { predicateType, predicate, subject } = statement;
  const facts = predicate as unknown as VersionStatement & {
    readonly node_id: string;
    readonly version: string;
  };
  const other = `${facts.node_id} ${facts.version}`;
  if (predicateType !== VERSION_PREDICATE || other.toLowerCase() !== about.toLowerCase())
    throw new FlowError('statement_invalid', `The statement on ${about} is about ${other}.`);
  return { ...facts, ...rest, archive_sha256: subject[0]?.digest.sha256 ?? '' };
}

/** @throws FlowError digest_mismatch if the archive is not the one that the registry vouches for */
export function requireVouched(
  { archive_sha256, kid }: VersionStatement,
  sha256: string,
  about: string,
): void {
  if (archive_sha256 === sha256) return;
  throw new FlowError(
    'digest_mismatch',
    `The archive of ${about} has the SHA-256 ${sha256}; the registry signed ${archive_sha256} with the key ${kid}.`,
  );
}
