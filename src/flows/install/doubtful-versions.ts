import { ClientError, ServiceError } from '../../client/errors.js';
import { formatReason, parseReason, summarizeReason } from '../../contract/parse-reason.js';
import { DEFAULT_LIMITS } from '../../contract/schema/limits.js';
import { FlowError } from '../flow-error.js';
import { explainVerdict, readReason } from '../publish/next-step.js';
import { describeDeprecation, type NodeVersion, type VersionContext } from '../publish/published.js';
import { DOUBTFUL_STATES } from './download-archive.js';

/** What versions are to those who may not see them. */
export const WITHDRAWN =
  'the registry does not offer this version: it was flagged, banned or deleted, or never published';

interface DoubtContext extends Pick<VersionContext, 'client' | 'signal'> {
  /** Which of `DOUBTFUL_STATES` a version may have. */
  readonly allowed: ReadonlySet<string>;
  warn(text: string): Promise<void>;
}

type Doubt = Pick<NodeVersion, 'version' | 'status_reason'> & {
  readonly state: (typeof DOUBTFUL_STATES)[number];
};

/** Finds which of `DOUBTFUL_STATES` a version has, with the reason of a verdict. */
async function findDoubt(
  { client, signal }: DoubtContext,
  nodeId: string,
  version: NodeVersion,
): Promise<Doubt | undefined> {
  const verdict = DOUBTFUL_STATES.find((one) => version.status?.toLowerCase().endsWith(one));
  if (verdict) return { ...(await readReason({ client, nodeId, signal }, version)), state: verdict };
  return version.deprecated ? { version: version.version, state: 'deprecated' } : undefined;
}

/**
 * Refuses a version that is deprecated, flagged or banned, unless its state is allowed.
 * @throws FlowError
 */
export async function refuseDoubtful(
  context: DoubtContext,
  { nodeId, pinned }: { readonly nodeId: string; readonly pinned?: unknown },
  version: NodeVersion,
): Promise<void> {
  const doubt = await findDoubt(context, nodeId, version);
  if (!doubt) return warnOfFindings(context, nodeId, version);
  const { state, status_reason } = doubt;
  if (context.allowed.has(state))
    return state === 'deprecated' ? context.warn(describeDeprecation(nodeId, version)) : undefined;
  if (state !== 'deprecated') {
    const { message, details } = explainVerdict(`${nodeId} ${version.version} is ${state}`, status_reason);
    throw new FlowError('version_refused', message, { subject: state, details });
  }
  const message = describeDeprecation(nodeId, version);
  // The lock file was made with this version.
  if (pinned) return context.warn(message);
  throw new FlowError('version_refused', message, { subject: state });
}

/** An admin may have approved a version despite what the checks found, and said why. */
async function warnOfFindings(
  { warn }: DoubtContext,
  nodeId: string,
  { version, status_reason = '' }: NodeVersion,
): Promise<void> {
  const reasons = parseReason(status_reason);
  if (!reasons.some(({ severity }) => severity === 'high')) return;
  const [shown, more] = [reasons.slice(0, 2), reasons.length - 2];
  const text = shown.map(formatReason).join('; ') + (more > 0 ? ` (and ${more} more)` : '');
  await warn(`${nodeId} ${version} was flagged by the checks and approved by an admin: ${text}`);
}

/** Warns of packs that are in place or in use although the registry has doubts about them. */
export async function warnOfDoubtful(
  context: DoubtContext,
  packs: readonly { readonly node_id: string; readonly version: string }[],
): Promise<void> {
  const { client, signal, warn } = context;
  const pairs = packs.map(({ node_id, version }) => ({ node_id, version }));
  try {
    for (let start = 0; start < pairs.length; start += DEFAULT_LIMITS.bulkPairs) {
      const body = { node_versions: pairs.slice(start, start + DEFAULT_LIMITS.bulkPairs) };
      const { node_versions: items } = await client.version.bulk({ body }, { signal });
      for (const { identifier, status, error_message, node_version } of items) {
        const { node_id: nodeId, version } = identifier;
        const doubt = node_version && (await findDoubt(context, nodeId, node_version));
        const reason = summarizeReason(doubt?.status_reason ?? '') || 'the registry gives no reason';
        if (node_version && doubt?.state === 'deprecated')
          await warn(describeDeprecation(nodeId, node_version));
        else if (doubt) await warn(`${nodeId} ${version} is ${doubt.state}: ${reason}`);
        else if (status === 'not_found') await warn(`${nodeId} ${version} is withdrawn: ${WITHDRAWN}`);
        else if (status === 'error') await warn(`${nodeId} ${version}: ${error_message}`);
      }
    }
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    // A registry may not have the bulk read. The packs are in place, also without a network.
    if (error instanceof ServiceError && [404, 405, 501].includes(error.status)) return;
    await warn(`The registry did not say which of the packs are deprecated or banned: ${error.message}`);
  }
}
