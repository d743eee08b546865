import type { Migration } from '../migrate.js';

/** The delivery log, in place of the last event that each task's webhook was told of, and what signs webhooks. */
export const webhooks: Migration = {
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
};
