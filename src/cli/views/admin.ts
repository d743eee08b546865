import type { Lookup } from '../command/command.js';
import type { Flags } from '../command/flags.js';
import type { View } from './view.js';

export const AUDIT_SHAPE = {
  items: 'events',
  columns: ['at', 'by', 'by_email', 'action', 'id', 'node_id', 'version', 'status', 'reason', 'token_id'],
  less: ['token_id', 'by_email', 'reason', 'by'],
  ids: ['id', 'by', 'token_id'],
  joined: ['id', 'node_id', 'version'],
};

export const USAGE_SHAPE = {
  items: 'rows',
  columns: ['day', 'key_name', 'key_id', 'operation', 'model', 'tasks', 'charged', 'refunded', 'credits'],
  less: ['key_id', 'refunded', 'charged'],
  ids: ['user_id', 'key_id'],
};

export const csvFlag: Flags = { '--csv': 'Print comma-separated values with a header' };

const USER = { userId: 'Email address or id of a user, as shown by `regen admin user list`' };
const knownUser = { operation: 'admin.user.list', field: 'id', email: 'email', search: 'search' } as const;
const userLookup: Lookup = { userId: knownUser };

const NODE_SET_FLAGS = ['tags-admin', 'search-ranking', 'preempted-host-node-names'];

export const adminViews: readonly View[] = [
  {
    usage: 'admin version set-status <nodeId> <version> [status]',
    operation: 'admin.version.setStatus',
    choices: {
      status: ['NodeVersionStatusActive', 'NodeVersionStatusFlagged', 'NodeVersionStatusBanned'],
    },
    examples: ['regen admin version set-status light-tools 1.2.0 banned --reason "It reads keys"'],
  },
  {
    usage: 'admin node ban <nodeId>',
    operation: 'admin.node.set',
    summary: 'Ban a node, so that only its publisher and admins can see it',
    fixed: { 'body.status': 'NodeStatusBanned' },
    hide: NODE_SET_FLAGS,
    examples: ['regen admin node ban light-tools --reason "It reads keys"'],
  },
  {
    usage: 'admin node unban <nodeId>',
    operation: 'admin.node.set',
    summary: 'Lift the ban on a node',
    fixed: { 'body.status': 'NodeStatusActive' },
    hide: NODE_SET_FLAGS,
  },
  {
    usage: 'admin node set <nodeId>',
    operation: 'admin.node.set',
    choices: { status: ['NodeStatusActive', 'NodeStatusBanned'] },
    examples: ['regen admin node set light-tools --search-ranking 10 --tags-admin reviewed'],
  },
  {
    usage: 'admin publisher ban <publisherId>',
    operation: 'admin.publisher.set',
    summary: 'Ban a publisher and hide its nodes from everyone but its members and admins',
    fixed: { 'body.status': 'PublisherStatusBanned' },
    examples: ['regen admin publisher ban my-team --reason "Stolen account"'],
  },
  {
    usage: 'admin publisher unban <publisherId>',
    operation: 'admin.publisher.set',
    summary: 'Lift the ban on a publisher and restore its nodes',
    fixed: { 'body.status': 'PublisherStatusActive' },
    hide: ['reason'],
  },
  {
    usage: 'admin host-node set-policy <nodeId> <version> <hostNodeName> [policy]',
    operation: 'admin.hostNode.setPolicy',
    examples: ['regen admin host-node set-policy light-tools 1.2.0 RunScript local-only'],
  },
  {
    usage: 'admin user list [search]',
    operation: 'admin.user.list',
    shape: {
      items: 'users',
      columns: ['email', 'name', 'id', 'credits_per_month', 'seen_at', 'created_at'],
      ids: ['id'],
      less: ['created_at', 'name'],
    },
    examples: ['regen admin user list', 'regen admin user list ann@example.com'],
  },
  {
    usage: 'admin user set <userId> [credits_per_month]',
    operation: 'admin.user.set',
    explain: USER,
    lookup: userLookup,
    examples: ['regen admin user set ann@example.com 500', 'regen admin user set ann@example.com default'],
  },
  {
    usage: 'admin publisher member set <publisherId> <userId> [role]',
    operation: 'admin.publisher.member.set',
    explain: USER,
    lookup: userLookup,
    examples: ['regen admin publisher member set my-team ann@example.com owner'],
  },
  {
    usage: 'admin publisher member remove <publisherId> <userId>',
    operation: 'admin.publisher.member.remove',
    explain: USER,
    lookup: userLookup,
  },
  {
    usage: 'admin usage',
    operation: 'admin.usage',
    shape: {
      ...USAGE_SHAPE,
      columns: [
        ...['day', 'user_id', 'user_email', ...USAGE_SHAPE.columns.slice(1)],
        ...['vendor_credits', 'difference'],
      ],
      less: [...USAGE_SHAPE.less, 'user_id'],
    },
    flags: { ...csvFlag },
    examples: ['regen admin usage --by user', 'regen admin usage --from 2026-01-01 --csv > usage.csv'],
  },
  {
    usage: 'admin audit',
    operation: 'admin.audit',
    lookup: { by: knownUser },
    shape: AUDIT_SHAPE,
    examples: ['regen admin audit --kind version --limit 50', 'regen admin audit --all --ndjson'],
  },
  {
    usage: 'admin token list',
    operation: 'admin.token.list',
    shape: {
      columns: ['jti', 'by', 'by_email', 'created_at', 'expires_at'],
      less: ['created_at', 'by', 'by_email'],
      ids: ['jti', 'by'],
    },
  },
  {
    usage: 'admin token revoke <jti>',
    operation: 'admin.token.revoke',
    explain: { jti: 'Token id, or the beginning of it, as shown by `regen admin token list`' },
    lookup: { jti: { operation: 'admin.token.list', field: 'jti' } },
  },
];
