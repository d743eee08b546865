import type { Migration } from '../migrate.js';

/** Generation tasks and what they cost. */
export const tasks: Migration = {
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
};
