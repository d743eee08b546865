import type { OperationName } from '../../contract/index.js';
import type { Database } from '../context.js';
import { Refused } from '../refused.js';
import type { Caller } from './authenticate.js';

/**
 * Who may call an operation. `anyone`: no credential needed. `bearer`: any valid one, which is for reads. `person`: one
 * that stands for a user. `admin`: that of an admin, `admin in person`: other than an admin token. The others look at the caller's role on the publisher of the path: `…reads` are open to admins too,
 * `…writes` are not, since admins change other people's publishers through /admin/* alone.
 */
type Rule =
  | 'anyone'
  | 'bearer'
  | 'person'
  | 'admin'
  | 'admin in person'
  | 'member reads'
  | 'member writes'
  | 'owner reads'
  | 'owner writes';

// Decided: a personal access token reaches 4.3.4, 4.3.5 and every read, with a member's sight of its own publisher: it passes
// every rule of this table but `person`, `owner reads`, `owner writes` and the admins'.
// Decided: an admin token reaches /admin/* and every read: it passes `anyone`, `bearer`, `admin` and `…reads`.
const rules: { readonly [Name in OperationName]: Rule } = {
  'publisher.create': 'person',
  'publisher.get': 'anyone',
  'publisher.list': 'bearer',
  'publisher.update': 'owner writes',
  'publisher.token.create': 'owner writes',
  'publisher.token.list': 'owner reads',
  'publisher.token.revoke': 'owner writes',
  'publisher.member.add': 'owner writes',
  'publisher.member.list': 'member reads',
  'publisher.member.set': 'owner writes',
  'publisher.member.remove': 'owner writes',
  'node.create': 'owner writes',
  'node.get': 'anyone',
  'node.list': 'bearer',
  'node.search': 'anyone',
  'node.update': 'owner writes',
  'node.delete': 'owner writes',
  'node.install': 'anyone',
  'version.publish': 'member writes',
  'version.update': 'member writes',
  'version.get': 'anyone',
  'version.list': 'anyone',
  'version.delete': 'owner writes',
  'version.history': 'member reads',
  'version.bulk': 'anyone',
  'hostNodes.get': 'anyone',
  'hostNodes.listAll': 'anyone',
  'hostNodes.list': 'anyone',
  'hostNodes.define': 'admin in person',
  'user.me': 'bearer',
  'image.relight': 'person',
  'image.relightStatus': 'bearer',
  'image.styleTransfer': 'person',
  'image.styleTransferStatus': 'bearer',
  'image.skinEnhancer': 'person',
  'image.skinEnhancerStatus': 'bearer',
  'image.upscaler': 'person',
  'image.upscalerStatus': 'bearer',
  'video.text2video': 'person',
  'video.startEnd2video': 'person',
  'video.extend': 'person',
  'video.creations': 'bearer',
  'video.prices': 'bearer',
  'task.get': 'bearer',
  // Decided: webhooks are a person's own, as tasks are: tokens that stand for something else see neither secret nor log.
  'webhook.secret': 'person',
  'webhook.rotateSecret': 'person',
  'webhook.deliveries': 'person',
  'admin.generateToken': 'admin in person',
  'admin.node.set': 'admin',
  'admin.version.setStatus': 'admin',
  'admin.hostNode.setPolicy': 'admin',
  'admin.publisher.set': 'admin',
  'admin.audit': 'admin',
  'admin.token.list': 'admin',
  'admin.token.revoke': 'admin',
  'service.protectedResource': 'anyone',
};

export interface Attempt {
  readonly operation: OperationName;
  readonly caller: Caller;
  /** Of the path, where it names one. */
  readonly publisherId?: string;
  /** Whether a request without credential may go on, because its body holds one. */
  readonly bearerOptional: boolean;
}

/** @throws Refused unauthenticated, not_found, forbidden, admin_required, banned */
export async function authorize(database: Database, attempt: Attempt): Promise<void> {
  const rule = rules[attempt.operation];
  if (rule === 'anyone') return;
  const { caller, publisherId } = attempt;
  if (caller.kind === 'none' && !attempt.bearerOptional) {
    throw new Refused(
      'unauthenticated',
      'This needs a credential; sign in and send it as `Authorization: Bearer <token>`.',
    );
  }
  if (rule === 'bearer') return;
  if (rule === 'person') return requirePerson(caller);
  if (rule === 'admin' || rule === 'admin in person') return requireAdmin(rule, caller);
  await authorizeOnPublisher(database, rule, caller, publisherId as string);
}

function requirePerson({ kind }: Caller): void {
  if (kind !== 'personal_access_token' && kind !== 'admin_token') return;
  throw new Refused('forbidden', `${credentialNames[kind]} cannot do this; sign in as yourself.`);
}

// Decided: an admin token never makes another one, so that an hour is all that one is worth.
function requireAdmin(rule: 'admin' | 'admin in person', { admin, kind }: Caller): void {
  if (!admin) throw new Refused('admin_required', 'Only an admin may do this.');
  if (rule === 'admin' || kind !== 'admin_token') return;
  throw new Refused('admin_required', 'An admin token cannot do this; sign in as an admin yourself.');
}

const credentialNames = { personal_access_token: 'A personal access token', admin_token: 'An admin token' };

async function authorizeOnPublisher(
  database: Database,
  rule: Extract<Rule, `${string} ${'reads' | 'writes'}`>,
  caller: Caller,
  publisherId: string,
): Promise<void> {
  const publisher = await standing(database, caller, publisherId);
  if (!publisher) throw new Refused('not_found', `There is no publisher ${publisherId}.`);
  const reads = rule.endsWith('reads');
  const ownersOnly = rule.startsWith('owner');
  if (!(reads && caller.admin)) {
    if (ownersOnly || !reads) refuseReach(rule, caller);
    refuseRole(publisher.role, ownersOnly, caller, publisherId);
  }
  // Decided: while a publisher is banned nothing of it is changed, by its members neither.
  if (!reads && publisher.status === 'PublisherStatusBanned') {
    throw new Refused('banned', `The publisher ${publisherId} is banned${reason(publisher)}.`);
  }
}

/** What a kind of credential never does, whoever made it. */
function refuseReach(rule: Rule, caller: Caller): void {
  if (rule === 'member writes' && caller.kind === 'personal_access_token') return;
  requirePerson(caller);
}

type Standing = { status: string; status_reason: string | null; role: 'owner' | 'member' | null };

function refuseRole(role: Standing['role'], ownersOnly: boolean, caller: Caller, publisherId: string): void {
  if (caller.kind === 'none' || (ownersOnly ? role === 'owner' : role !== null)) return;
  throw new Refused(
    'forbidden',
    caller.kind === 'personal_access_token'
      ? `This personal access token is for the publisher ${caller.publisherId}, not for ${publisherId}.`
      : `Only ${ownersOnly ? 'an owner' : 'a member'} of the publisher ${publisherId} may do this.`,
  );
}

async function standing(
  database: Database,
  caller: Caller,
  publisherId: string,
): Promise<Standing | undefined> {
  const row = await database
    .selectFrom('publishers')
    .leftJoin('members', (on) =>
      on.onRef('members.publisher_id', '=', 'publishers.id').on('members.user_id', '=', caller.userId ?? ''),
    )
    .select(['publishers.status', 'publishers.status_reason', 'members.role'])
    .where('publishers.id', '=', publisherId)
    .executeTakeFirst();
  if (!row || caller.kind !== 'personal_access_token') return row;
  return { ...row, role: caller.publisherId === publisherId ? 'member' : null };
}

function reason({ status_reason }: Standing): string {
  return status_reason ? `: ${status_reason}` : '';
}
