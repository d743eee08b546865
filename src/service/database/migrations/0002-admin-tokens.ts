import type { Migration } from '../migrate.js';

/** The admin tokens that are worth something: a revoked one has no row. */
export const adminTokens: Migration = {
  number: 2,
  statements: [
    `create table admin_tokens (
      jti text primary key, user_id text not null references users (id), created_at text not null,
      expires_at text not null)`,
  ],
};
