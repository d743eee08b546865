import { earlyMigrations } from './early-migrations.js';
import { type Migration, PUBLIC_EVENTS, toPlainSql } from './migration.js';

export const migrations: readonly Migration[] = [
  ...earlyMigrations,
  // The order and the index of search, so that a search reads no more nodes than it answers with.
  {
    number: 10,
    statements: [
      'alter table nodes add column number bigint',
      `update nodes set number = ordered.number
        from (select id, row_number() over (order by created_at, id) as number from nodes) as ordered
        where ordered.id = nodes.id`,
      'create unique index nodes_number on nodes (number)',
      // As `buildSearchText` of registry/search-index.ts.
      `update nodes set search_text = '  ' || replace(${toSpacesSql('search_text')}, ' ', '  ')`,
      'alter table nodes add column search_key bigint',
      // As `toSearchKey` there.
      `update nodes set search_key = number - 4294967296 * case when search_ranking > 1000000 then 1000000
          when search_ranking < -1000000 then -1000000 else search_ranking end
        where status = 'NodeStatusActive'
          and publisher_id in (select id from publishers where status = 'PublisherStatusActive')`,
      'create unique index nodes_search_key on nodes (search_key)',
      "insert into totals (name, value) select 'nodes.found', count(search_key) from nodes",
      "insert into totals (name, value) values ('nodes.searchRevision', 0)",
      '{searchIndex}',
      `insert into node_search (rowid, search_text)
        select search_key, search_text from nodes where search_key is not null order by search_key`,
    ],
  },
  {
    number: 11,
    statements: [
      'alter table versions add column archive_key text',
      `update versions set archive_key = (select 'archives/' || publisher_id || '/' || nodes.id || '/' || version || '/node.zip'
        from nodes where nodes.id = node_id) where archive_sha256 is not null`,
    ],
  },
  // Keys of scripts, monthly budgets, and costs that say what they were for and outlast their tasks.
  {
    number: 12,
    statements: [
      'alter table users add column credits_per_month bigint',
      'alter table tasks add column key_id text',
      `create table api_keys (
        id text primary key, user_id text not null references users (id), name text not null, prefix text not null,
        hash text not null unique, operations text, credits_per_month bigint, created_at text not null,
        expires_at text not null, last_used_at text, revoked_at text)`,
      'create index api_keys_user on api_keys (user_id)',
      `create table task_credits (
        task_id text not null, kind text not null, user_id text not null references users (id), amount integer not null,
        at text not null, month text not null, operation text not null, model text, key_id text,
        primary key (task_id, kind))`,
      `insert into task_credits (task_id, kind, user_id, amount, at, month, operation, model)
        select credits.task_id, credits.kind, credits.user_id, credits.amount, credits.at, substr(charges.at, 1, 7),
          tasks.operation, {requestModel}
        from credits join tasks on tasks.id = credits.task_id
          join credits as charges on charges.task_id = credits.task_id and charges.kind = 'charge'`,
      'drop table credits',
      'alter table task_credits rename to credits',
      'create index credits_user on credits (user_id, month)',
      'create index credits_month on credits (month)',
      'create index credits_at on credits (at)',
      'create index credits_key on credits (key_id, month) where key_id is not null',
    ],
  },
  // Requests with an Idempotency-Key that run in one of several services.
  {
    number: 13,
    statements: [
      `create table running_keys (
        caller text not null, operation text not null, key text not null, holder text not null, until text not null,
        primary key (caller, operation, key))`,
    ],
  },
  {
    number: 14,
    statements: [
      `create table uplink_versions (
        node_id text not null, version text not null, node text not null, details text not null, archive_key text not null,
        archive_size bigint not null, archive_sha256 text not null, archive_tree text not null, fetched_at text not null,
        primary key (node_id, version))`,
    ],
  },
  // Tells services of earlier releases which steps they can go on after.
  { number: 15, rolling: true, statements: ['alter table migrations add column rolling integer'] },
  // Where the files are that the rows of a shared database name.
  {
    number: 16,
    rolling: true,
    statements: ['create table storages (number integer primary key, id text not null, place text not null)'],
  },
  // Memberships that a person accepts: invitations were users without an issuer, with the membership already. And tasks
  // that a vendor may charge although they were cancelled, ids that look alike, and when people last signed in.
  {
    number: 17,
    statements: [
      `create table invitations (
        publisher_id text not null references publishers (id), id text not null, email text,
        user_id text references users (id), role text not null, invited_by text references users (id),
        created_at text not null, expires_at text not null, primary key (publisher_id, id))`,
      'create unique index invitations_email on invitations (email, publisher_id)',
      'create unique index invitations_user on invitations (user_id, publisher_id)',
      "create index events_invitations on events (actor, at) where action = 'member.invite'",
      `insert into invitations (publisher_id, id, email, role, created_at, expires_at)
        select publisher_id, user_id, email, role, members.created_at, {in30Days}
        from members join users on users.id = user_id where issuer is null and email is not null`,
      'delete from members where user_id in (select id from users where issuer is null and email is not null)',
      'delete from users where issuer is null and email is not null',
      'alter table users add column seen_at text',
      'update users set seen_at = {now}',
      // Of existing ids that look alike, one holds the form that new ones are compared with; all keep working.
      ...['nodes', 'publishers'].flatMap((table) => [
        `update ${table} set plain_id = null`,
        `update ${table} set plain_id = ${toLikenessSql('id')}
          where id in (select min(id) from ${table} group by ${toLikenessSql('id')})`,
      ]),
      // A vendor may have been asked for what runs.
      'alter table tasks add column asked_at text',
      "update tasks set asked_at = created_at where status in ('IN_PROGRESS', 'processing')",
      "create index tasks_cancelled on tasks (creator, asked_at) where error_code = 'cancelled'",
    ],
  },
  // What users have begun and not ended, which counts for their quotas.
  {
    number: 18,
    rolling: true,
    statements: [
      `create table reservations (
        id text primary key, owner text not null, quota text not null, amount bigint not null, until text not null)`,
      'create index reservations_owner on reservations (owner, quota)',
    ],
  },
  // What vendors charge for tasks, in their own credits.
  {
    number: 19,
    rolling: true,
    statements: ['alter table credits add column vendor_credits double precision'],
  },
  // CI jobs that publish without a stored token, and what they said of themselves.
  {
    number: 20,
    rolling: true,
    statements: [
      `create table trusts (
        id text primary key, publisher_id text not null, issuer text not null, wanted text not null, nodes text,
        ids text, created_by text not null, created_at text not null, expires_at text, last_used_at text,
        foreign key (publisher_id, created_by) references members (publisher_id, user_id) on delete cascade)`,
      'create index trusts_member on trusts (publisher_id, created_by)',
      'create table used_identities (id text primary key, expires_at text not null)',
      'create index used_identities_expiry on used_identities (expires_at)',
      'alter table personal_access_tokens add column trust_id text',
      'alter table personal_access_tokens add column provenance text',
      'alter table versions add column provenance text',
    ],
  },
  // Versions that an owner has to approve. A service of an earlier release would make them Active without that.
  {
    number: 21,
    statements: [
      'alter table trusts add column stage integer',
      'alter table personal_access_tokens add column stage integer',
      'alter table versions add column approve_by text',
      // Search begins with the ids that begin with what is searched.
      '{prefixIndex}',
    ],
  },
  // What API keys may spend in all. A service of an earlier release would not hold them to it.
  { number: 22, statements: ['alter table api_keys add column credits bigint'] },
  // The feed of public changes: the place of each in its order, as `registry/changes.ts` gives it.
  {
    number: 23,
    rolling: true,
    statements: [
      'alter table events add column place bigint',
      `update events set place = id where ${PUBLIC_EVENTS}`,
      'create unique index events_place on events (place) where place is not null',
      `create index events_without_place on events (id) where place is null and ${PUBLIC_EVENTS}`,
      "insert into totals (name, value) select 'changes.place', coalesce(max(place), 0) from events",
    ],
  },
  // What the README of an archive says, for pages.
  {
    number: 24,
    rolling: true,
    statements: [
      'create table readmes (version_id text primary key references versions (id), text text not null)',
    ],
  },
  // What a staged version says of its node, which holds once it is approved.
  { number: 25, rolling: true, statements: ['alter table versions add column node_update text'] },
  // With which token something was done.
  { number: 26, rolling: true, statements: ['alter table events add column token_id text'] },
];

/** Puts a space for each separator of words. */
function toSpacesSql(column: string): string {
  const separators = ["'-'", "'_'", "'.'", '{char}(9)', '{char}(10)', '{char}(13)'];
  return separators.reduce((text, separator) => `replace(${text}, ${separator}, ' ')`, column);
}

/** As `toPlainId` of registry/names.ts. */
function toLikenessSql(column: string): string {
  const letters = ["'0', 'o'", "'1', 'l'", "'i', 'l'", "'rn', 'm'", "'vv', 'w'"];
  return letters.reduce((text, pair) => `replace(${text}, ${pair})`, toPlainSql(column));
}
