import type { Lookup } from '../command/command.js';
import { AUDIT_SHAPE } from './admin.js';
import type { View } from './view.js';

const MEMBER = {
  userId: 'Email address, user id, or id of an invitation, as shown by `regen publisher member list`',
};
const memberLookup: Lookup = {
  userId: { operation: 'publisher.member.list', field: 'id', email: 'user.email' },
};

const PUBLISHER_COLUMNS = ['id', 'name', 'status', 'website'];

export const publisherViews: readonly View[] = [
  {
    usage: 'publisher create [id]',
    operation: 'publisher.create',
    examples: ['regen publisher create my-team --name "My Team" --website https://example.com'],
  },
  { usage: 'publisher get <publisherId>', operation: 'publisher.get' },
  { usage: 'publisher list', operation: 'publisher.list', shape: { columns: PUBLISHER_COLUMNS } },
  {
    usage: 'publisher update <publisherId>',
    operation: 'publisher.update',
    hide: ['id'],
    examples: [
      'regen publisher update my-team --description "Nodes for light" --support https://example.com/help',
    ],
  },
  {
    usage: 'publisher delete <publisherId>',
    operation: 'publisher.delete',
  },
  {
    usage: 'publisher audit <publisherId>',
    operation: 'publisher.audit',
    shape: AUDIT_SHAPE,
    examples: ['regen publisher audit my-team --limit 50'],
  },
  {
    usage: 'publisher token create <publisherId> [name]',
    operation: 'publisher.token.create',
    shape: { only: 'token' },
    examples: [
      'regen publisher token create my-team "release workflow" --expires-at 2027-01-01 --output-file token.txt',
      'regen publisher token create my-team "light-tools only" --nodes light-tools --output-file token.txt',
    ],
  },
  {
    usage: 'publisher token list <publisherId>',
    operation: 'publisher.token.list',
    shape: {
      columns: [
        'id',
        'name',
        'token',
        'nodes',
        'created_by_email',
        'created_at',
        'expires_at',
        'last_used_at',
      ],
      ids: ['id'],
      less: ['token', 'nodes', 'created_by_email', 'created_at', 'last_used_at'],
    },
  },
  {
    usage: 'publisher token revoke <publisherId> <tokenId>',
    operation: 'publisher.token.revoke',
    explain: { tokenId: 'Token id, or the beginning of it, as shown by `regen publisher token list`' },
    lookup: { tokenId: { operation: 'publisher.token.list', field: 'id' } },
  },
  {
    usage: 'publisher trust list <publisherId>',
    operation: 'publisher.trust.list',
    shape: {
      columns: [
        ...['id', 'issuer', 'repository', 'workflow', 'environment', 'ref', 'nodes'],
        ...['created_by_email', 'expires_at', 'last_used_at'],
      ],
      ids: ['id'],
      less: ['issuer', 'created_by_email', 'expires_at', 'last_used_at', 'ref', 'environment', 'nodes'],
    },
  },
  {
    usage: 'publisher trust remove <publisherId> <trustId>',
    operation: 'publisher.trust.remove',
    explain: { trustId: 'Trust id, or the beginning of it, as shown by `regen publisher trust list`' },
    lookup: { trustId: { operation: 'publisher.trust.list', field: 'id' } },
  },
  {
    usage: 'publisher invitations',
    operation: 'publisher.invitations',
    shape: {
      columns: ['publisher_id', 'publisher_name', 'role', 'invited_by', 'expires_at'],
      none: 'No invitations. They are for the verified email address of a sign-in, which regen auth status shows.',
    },
    notes: ['Answer with regen publisher accept or regen publisher decline.'],
  },
  {
    usage: 'publisher accept <publisherId>',
    operation: 'publisher.accept',
    examples: ['regen publisher accept my-team'],
  },
  { usage: 'publisher decline <publisherId>', operation: 'publisher.decline' },
  {
    usage: 'publisher member add <publisherId> [email]',
    operation: 'publisher.member.add',
    notes: [
      'The person sees it with regen publisher invitations, and accepts it with regen publisher accept.',
    ],
    examples: ['regen publisher member add my-team ann@example.com --role member'],
  },
  {
    usage: 'publisher member list <publisherId>',
    operation: 'publisher.member.list',
    shape: {
      columns: ['id', 'user.email', 'user.name', 'role', 'pending'],
      less: ['user.name', 'user.email'],
    },
  },
  {
    usage: 'publisher member remove <publisherId> <userId>',
    operation: 'publisher.member.remove',
    explain: MEMBER,
    lookup: memberLookup,
  },
  {
    usage: 'publisher member set <publisherId> <userId> [role]',
    operation: 'publisher.member.set',
    explain: MEMBER,
    lookup: memberLookup,
    examples: ['regen publisher member set my-team ann@example.com owner'],
  },
];
