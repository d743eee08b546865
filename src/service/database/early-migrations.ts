import { type Migration, toPlainSql } from './migration.js';

/** The steps up to the index of search. */
export const earlyMigrations: readonly Migration[] = [
  // Publishers, nodes, versions, users, tokens, events, jobs and keys.
  {
    number: 1,
    statements: [
      `create table users (
        id text primary key, issuer text, subject text, email text, name text, created_at text not null,
        unique (issuer, subject))`,
      'create index users_email on users (email)',
      `create table publishers (
        id text primary key, name text not null, description text, logo text, source_code_repo text, support text,
        website text, status text not null, status_reason text, created_at text not null)`,
      `create table members (
        publisher_id text not null references publishers (id), user_id text not null references users (id),
        role text not null, created_at text not null, primary key (publisher_id, user_id))`,
      'create index members_user on members (user_id)',
      `create table personal_access_tokens (
        id text primary key, publisher_id text not null references publishers (id), name text not null, description text,
        prefix text not null, hash text not null unique, created_by text not null references users (id),
        created_at text not null, expires_at text, last_used_at text)`,
      'create index personal_access_tokens_publisher on personal_access_tokens (publisher_id)',
      `create table nodes (
        id text primary key, folded_id text not null unique, publisher_id text not null references publishers (id),
        name text not null, details text not null, search_text text not null, search_ranking integer not null,
        status text not null, status_detail text, downloads integer not null, latest_version_id text,
        created_at text not null)`,
      'create index nodes_publisher on nodes (publisher_id, id)',
      `create table versions (
        id text primary key, node_id text not null references nodes (id), version text not null, details text not null,
        status text not null, status_reason text, extract_status text not null, archive_size bigint, archive_sha256 text,
        archive_tree text, uploaded_at text, created_at text not null, unique (node_id, version))`,
      `create table host_nodes (
        version_id text not null references versions (id), node_id text not null references nodes (id),
        name text not null, definition text not null, policy text not null, primary key (version_id, name))`,
      'create index host_nodes_name on host_nodes (name)',
      `create table events (
        id {identity}, at text not null, actor text not null, subject_kind text not null, subject_id text not null,
        action text not null, status text, reason text)`,
      'create index events_subject on events (subject_kind, subject_id, id)',
      `create table jobs (
        id text primary key, kind text not null, key text not null, run_at text not null, attempts integer not null,
        leased_until text, leased_by text, last_error text, created_at text not null, unique (kind, key))`,
      'create index jobs_due on jobs (run_at)',
      `create table idempotency (
        caller text not null, operation text not null, key text not null, request_hash text not null,
        status integer not null, body text not null, created_at text not null, primary key (caller, operation, key))`,
      'create index idempotency_age on idempotency (created_at)',
      `create table keys (
        id text primary key, use text not null, secret text not null, created_at text not null, retired_at text)`,
    ],
  },
  // Valid admin tokens: a revoked one has no row.
  {
    number: 2,
    statements: [
      `create table admin_tokens (
        jti text primary key, user_id text not null references users (id), created_at text not null,
        expires_at text not null)`,
    ],
  },
  // Generation tasks and their costs.
  {
    number: 3,
    statements: [
      `create table tasks (
        id text primary key, operation text not null, creator text not null references users (id), status text not null,
        request text not null, images text not null, seed bigint not null, webhook_url text,
        webhook_event bigint not null, results text, reason text, created_at text not null)`,
      'create index tasks_creator on tasks (creator, created_at)',
      `create table credits (
        task_id text not null references tasks (id), kind text not null, user_id text not null references users (id),
        amount integer not null, at text not null, primary key (task_id, kind))`,
    ],
  },
  // Video tasks, which have their own kind of job.
  {
    number: 4,
    statements: [
      'alter table tasks add column error_code text',
      'alter table tasks add column memory text',
      "update jobs set kind = 'run-image-task' where kind = 'run-task'",
    ],
  },
  // The delivery log, instead of the last event delivered per task, and the secrets that sign webhooks.
  {
    number: 5,
    statements: [
      `create table webhook_deliveries (
        number {identity}, id text not null unique, task_id text not null references tasks (id),
        user_id text not null references users (id), url text not null, state text not null, status text not null,
        attempts integer not null, reason text, next_at text, created_at text not null)`,
      'create index webhook_deliveries_task on webhook_deliveries (task_id, number)',
      'create index webhook_deliveries_user on webhook_deliveries (user_id, number)',
      `insert into webhook_deliveries (id, task_id, user_id, url, state, status, attempts, next_at, created_at)
        select 'msg_' || tasks.id || '_' || events.id, tasks.id, tasks.creator, tasks.webhook_url, events.status, 'pending',
          0, events.at, events.at
        from tasks join events on events.subject_kind = 'task' and events.subject_id = tasks.id
        where tasks.webhook_url is not null and events.status not in ('CREATED', 'created', 'queueing')
          and events.id > tasks.webhook_event
        order by events.id`,
      'alter table tasks drop column webhook_event',
      `create table webhook_secrets (
        number {identity}, user_id text not null references users (id), secret text not null, created_at text not null,
        replaced_at text)`,
      'create index webhook_secrets_user on webhook_secrets (user_id, number)',
    ],
  },
  // The last callback of a vendor about a task.
  {
    number: 6,
    statements: ['alter table tasks add column callback text'],
  },
  // Indexes and totals that keep claims and the list of definitions fast in large tables.
  {
    number: 7,
    statements: [
      'create index jobs_claim on jobs (kind, run_at, created_at, id)',
      'create table totals (name text primary key, value bigint not null)',
      'alter table host_nodes add column listed integer not null default 0',
      `update host_nodes set listed = 1 where version_id in (
        select nodes.latest_version_id from nodes join publishers on publishers.id = nodes.publisher_id
        where nodes.status = 'NodeStatusActive' and publishers.status = 'PublisherStatusActive')`,
      "insert into totals (name, value) select 'host_nodes.listed', count(*) from host_nodes where listed = 1",
      'create index host_nodes_listed on host_nodes (node_id, name) where listed = 1',
      'create index host_nodes_listed_name on host_nodes (name, node_id) where listed = 1',
      `create index host_nodes_listed_banned on host_nodes (node_id, name)
        where listed = 1 and policy = 'HostNodePolicyBanned'`,
      'create unique index versions_number on versions (version, node_id)',
    ],
  },
  // Turns between the users of the queue, and what is known of jobs whose process ended while they ran.
  {
    number: 8,
    statements: [
      "alter table jobs add column owner text not null default ''",
      'alter table jobs add column priority integer not null default 0',
      'alter table jobs add column turn bigint',
      'alter table jobs add column unclean_ends integer not null default 0',
      'alter table jobs add column crashes integer not null default 0',
      `update jobs set owner = coalesce((select creator from tasks where tasks.id = jobs.key), '')
        where kind in ('run-image-task', 'run-video-task', 'deliver-webhook', 'expire-task', 'forget-inputs')`,
      `update jobs set priority = 1 where kind = 'run-video-task'
        and key in (select id from tasks where request like '%"off_peak":true%')`,
      `update jobs set owner = coalesce((
          select nodes.publisher_id from versions join nodes on nodes.id = versions.node_id where versions.id = jobs.key), '')
        where kind in ('check-archive', 'abandon-version')`,
      'drop index jobs_claim',
      'create index jobs_waiting on jobs (kind, run_at) where turn is null and leased_by is null',
      `create index jobs_ready on jobs (kind, priority, turn, created_at, id)
        where turn is not null and leased_by is null`,
      'create index jobs_owner on jobs (owner, kind, priority, turn)',
      'create index jobs_leased on jobs (kind, leased_by) where leased_by is not null',
      'create index jobs_suspected on jobs (created_at) where unclean_ends > 1',
      `create table quota_usage (
        publisher_id text not null references publishers (id), quota text not null, day text not null,
        amount bigint not null, primary key (publisher_id, quota))`,
    ],
  },
  // Tokens that end with their maker's membership, events by publisher, and ids that look alike.
  {
    number: 9,
    statements: [
      'alter table events add column publisher_id text',
      "update events set publisher_id = subject_id where subject_kind = 'publisher'",
      `update events set publisher_id = (select publisher_id from nodes where nodes.id = subject_id)
        where subject_kind = 'node'`,
      `update events set publisher_id = (select nodes.publisher_id from versions
        join nodes on nodes.id = versions.node_id where versions.id = subject_id) where subject_kind = 'version'`,
      `update events set publisher_id = (select nodes.publisher_id from nodes
        where substr(subject_id, 1, length(nodes.id) + 1) = nodes.id || '@') where subject_kind = 'host_node'`,
      `update events set publisher_id = (select publishers.id from publishers
        where substr(subject_id, 1, length(publishers.id) + 1) = publishers.id || '/')
        where subject_kind = 'member'`,
      `update events set publisher_id = (select publisher_id from personal_access_tokens
        where personal_access_tokens.id = subject_id) where subject_kind = 'token'`,
      'create index events_publisher on events (publisher_id, id)',
      // Existing tokens expire a year after the upgrade; those of former members are gone.
      `create table member_tokens (
        id text primary key, publisher_id text not null, name text not null, description text, prefix text not null,
        hash text not null unique, nodes text, created_by text not null references users (id),
        created_at text not null, expires_at text not null, last_used_at text,
        foreign key (publisher_id, created_by) references members (publisher_id, user_id) on delete cascade)`,
      `insert into member_tokens (id, publisher_id, name, description, prefix, hash, created_by, created_at, expires_at,
          last_used_at)
        select id, tokens.publisher_id, name, description, prefix, hash, created_by, tokens.created_at,
          coalesce(expires_at, {inAYear}), last_used_at
        from personal_access_tokens tokens join members on members.publisher_id = tokens.publisher_id
          and members.user_id = tokens.created_by`,
      'drop table personal_access_tokens',
      'alter table member_tokens rename to personal_access_tokens',
      'create index personal_access_tokens_member on personal_access_tokens (publisher_id, created_by)',
      ...['nodes', 'publishers'].flatMap((table) => [
        `alter table ${table} add column plain_id text`,
        // Of existing ids that look alike, one holds the plain form against new ones.
        `update ${table} set plain_id = ${toPlainSql('id')}
          where id in (select min(id) from ${table} group by ${toPlainSql('id')})`,
        `create unique index ${table}_plain_id on ${table} (plain_id)`,
      ]),
    ],
  },
];
