import type { Migration } from '../migrate.js';

/** Publishers, nodes, versions and what they need: users, tokens, events, jobs, keys. */
export const registry: Migration = {
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
};
