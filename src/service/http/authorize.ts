import type { FastifyRequest } from 'fastify';
import type { Who } from '../../contract/operation.js';
import { refuseOtherNodes } from '../auth/random-tokens.js';
import { compileOnce, type Database } from '../database/database.js';
import type { Caller } from '../operation/caller.js';
import type { Context } from '../operation/context.js';
import { Refused } from '../operation/refused.js';
import { credentialRequired } from './authenticate.js';
import type { Concern, Route } from './concern.js';

export interface AuthorizationRequest {
  readonly who: Who;
  readonly caller: Caller;
  /** Of the path, if it has one. */
  readonly publisherId?: string;
  readonly nodeId?: string;
  /** The operation, if it starts a task. */
  readonly starts?: string | undefined;
  readonly changes: boolean;
  /** Whether even what anyone may read needs a credential. */
  readonly isClosed: boolean;
  /** Whether a request without a credential may pass, because its body holds one. */
  readonly bearerOptional: boolean;
}

export function createAuthorization(context: AuthorizationContext): Concern {
  return {
    onRequest: (request, _reply, route) =>
      authorize(context.database, toAuthorization(context, route, request)),
  };
}

type AuthorizationContext = Pick<Context, 'configuration' | 'compatibility' | 'database'>;

export function toAuthorization(
  { configuration: { registry }, compatibility }: AuthorizationContext,
  { name, operation }: Pick<Route, 'name' | 'operation'>,
  { caller, params }: Pick<FastifyRequest, 'caller' | 'params'>,
): AuthorizationRequest {
  const { who, task, opensSignIn, credentialInBody, method, safe } = operation;
  return {
    who,
    caller,
    starts: task && name,
    changes: method !== 'GET' && !safe,
    ...(params as { publisherId?: string; nodeId?: string }),
    isClosed: registry.read === 'authenticated' && !opensSignIn,
    bearerOptional: credentialInBody === true && compatibility.publishWithoutBearer,
  };
}

/** @throws Refused unauthenticated, not_found, forbidden, admin_required, banned */
export async function authorize(database: Database, attempt: AuthorizationRequest): Promise<void> {
  const { who, caller, publisherId, nodeId } = attempt;
  if (who === 'anyone' && !attempt.isClosed) return;
  if (caller.kind === 'none' && !attempt.bearerOptional) throw credentialRequired();
  if (who === 'bearer' || who === 'anyone') return;
  if (who === 'person') return requirePerson(caller, attempt.starts);
  if (who === 'admin' || who === 'admin in person') requireAdmin(who, caller);
  else await authorizeOnPublisher(database, who, caller, publisherId as string);
  if (attempt.changes && !who.startsWith('member')) refuseWeakSignIn(caller);
  refuseOtherNodes(caller.nodes, nodeId);
}

/** Asked last, so that only who may do it otherwise signs in again. */
function refuseWeakSignIn({ weakness }: Caller): void {
  if (weakness === undefined) return;
  throw new Refused('forbidden', `This needs a sign-in ${weakness}; sign in again with a second factor.`);
}

/** @param starts the operation, if it starts a task, which an API key may do */
function requirePerson({ kind, operations }: Caller, starts?: string): void {
  if (kind === 'api_key' && starts !== undefined) {
    if (operations === undefined || operations.includes(starts)) return;
    throw new Refused(
      'forbidden',
      `This API key may only start ${operations.join(', ')}; its user can create another key.`,
    );
  }
  if (kind !== 'personal_access_token' && kind !== 'admin_token' && kind !== 'api_key') return;
  throw new Refused('forbidden', `${CREDENTIAL_NAMES[kind]} cannot do this; sign in as yourself.`);
}

// Decided: an admin token never makes another one, so that its power ends after an hour.
function requireAdmin(who: 'admin' | 'admin in person', { admin, kind }: Caller): void {
  if (!admin) throw new Refused('admin_required', 'Only an admin may do this.');
  if (who === 'admin' || kind !== 'admin_token') return;
  throw new Refused('admin_required', 'An admin token cannot do this; sign in as an admin yourself.');
}

const CREDENTIAL_NAMES = {
  personal_access_token: 'A personal access token',
  admin_token: 'An admin token',
  api_key: 'An API key',
};

async function authorizeOnPublisher(
  database: Database,
  who: Extract<Who, `${string} ${'reads' | 'writes'}`>,
  caller: Caller,
  publisherId: string,
): Promise<void> {
  const publisher = await findStanding(database, caller, publisherId);
  if (!publisher) throw new Refused('not_found', `There is no publisher ${publisherId}.`);
  const reads = who.endsWith('reads');
  const ownersOnly = who.startsWith('owner');
  if (!(reads && caller.admin)) {
    const mayBeToken = who === 'member writes' && caller.kind === 'personal_access_token';
    if ((ownersOnly || !reads) && !mayBeToken) requirePerson(caller);
    refuseRole(publisher.role, ownersOnly, caller, publisherId);
  }
  // Decided: a banned publisher cannot be changed, not even by its members.
  if (!reads && publisher.status === 'PublisherStatusBanned') {
    const { status_reason: reason } = publisher;
    throw new Refused('banned', `The publisher ${publisherId} is banned${reason ? `: ${reason}` : ''}.`);
  }
}

type Role = 'owner' | 'member' | null;
type PublisherStanding = { status: string; status_reason: string | null; role: Role };

function refuseRole(role: Role, ownersOnly: boolean, caller: Caller, publisherId: string): void {
  if (caller.kind === 'none' || (ownersOnly ? role === 'owner' : role !== null)) return;
  throw new Refused(
    'forbidden',
    caller.kind === 'personal_access_token'
      ? `This personal access token is for the publisher ${caller.publisherId}, not for ${publisherId}.`
      : `Only ${ownersOnly ? 'an owner' : 'a member'} of the publisher ${publisherId} may do this.`,
  );
}

const findRole = compileOnce((database, userId: string, publisherId: string) =>
  database
    .selectFrom('publishers')
    .leftJoin('members', (on) =>
      on.onRef('members.publisher_id', '=', 'publishers.id').on('members.user_id', '=', userId),
    )
    .select(['publishers.status', 'publishers.status_reason', 'members.role'])
    .where('publishers.id', '=', publisherId),
);

async function findStanding(
  database: Database,
  caller: Caller,
  publisherId: string,
): Promise<PublisherStanding | undefined> {
  const [row] = await findRole(database, caller.userId ?? '', publisherId);
  if (row && caller.kind === 'api_key') return { ...row, role: null };
  if (!row || caller.kind !== 'personal_access_token') return row;
  return { ...row, role: caller.publisherId === publisherId ? 'member' : null };
}
