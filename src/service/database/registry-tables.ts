import type { Generated } from 'kysely';
import type { Fixed, Json, Time } from './column-types.js';

export interface PublisherTable {
  id: Fixed<string>;
  name: string;
  description: string | null;
  logo: string | null;
  source_code_repo: string | null;
  support: string | null;
  website: string | null;
  status: string;
  status_reason: string | null;
  /** The id without case and hyphens, so that new ids do not look like it; null if an older id has it too. */
  plain_id: Fixed<string | null>;
  created_at: Fixed<Time>;
}

export interface MemberTable {
  publisher_id: Fixed<string>;
  user_id: Fixed<string>;
  role: 'owner' | 'member';
  created_at: Fixed<Time>;
}

/** What a person has yet to accept. */
export interface InvitationTable {
  publisher_id: Fixed<string>;
  id: Fixed<string>;
  /** The address that is invited, in lower case; null for a member who is asked to own the publisher. */
  email: Fixed<string | null>;
  user_id: Fixed<string | null>;
  role: Fixed<'owner' | 'member'>;
  /** Null if it is older than this column. */
  invited_by: Fixed<string | null>;
  created_at: Fixed<Time>;
  expires_at: Fixed<Time>;
}

export interface PersonalAccessTokenTable {
  id: Fixed<string>;
  publisher_id: Fixed<string>;
  name: Fixed<string>;
  description: Fixed<string | null>;
  /** The first 4 characters of the token's random part. */
  prefix: Fixed<string>;
  /** SHA-256 of the whole token, hex. */
  hash: Fixed<string>;
  /** A list of the ids of the nodes that it is limited to; null if it is for all of them. */
  nodes: Fixed<Json | null>;
  /** A member of the publisher; the token is deleted with the membership. */
  created_by: Fixed<string>;
  created_at: Fixed<Time>;
  expires_at: Fixed<Time>;
  last_used_at: Time | null;
  /** The trust that a CI job got it by; null for one that a person created. */
  trust_id: Fixed<string | null>;
  /** What that job is, as the versions that it publishes have it. */
  provenance: Fixed<Json | null>;
  /** 1 if an owner has to approve what is published with it. */
  stage: Fixed<0 | 1 | null>;
}

/** CI jobs that a publisher trusts. */
export interface TrustTable {
  id: Fixed<string>;
  publisher_id: Fixed<string>;
  /** The `iss` of its identity tokens. */
  issuer: Fixed<string>;
  /** The claims that they must have, as in the contract. */
  wanted: Fixed<Json>;
  /** A list of the ids of the nodes that it is limited to; null if it is for all of them. */
  nodes: Fixed<Json | null>;
  /** 1 if an owner has to approve what its jobs publish. */
  stage: Fixed<0 | 1 | null>;
  /** Ids of the repository and its owner, by claim; null until the first use. */
  ids: Json | null;
  /** A member of the publisher; the trust is deleted with the membership. */
  created_by: Fixed<string>;
  created_at: Fixed<Time>;
  /** When it ends if it is not used before; null if it does not end. */
  expires_at: Time | null;
  last_used_at: Time | null;
}

/** The identity tokens that were exchanged, until they expire. */
export interface UsedIdentityTable {
  /** SHA-256 of issuer and `jti`, hex. */
  id: Fixed<string>;
  expires_at: Fixed<Time>;
}

export interface NodeTable {
  id: Fixed<string>;
  /** The id in lower case: ids are unique without regard to case. */
  folded_id: Fixed<string>;
  /** The id without case and `-`, `_`, `.`, so that new ids do not look like it; null if an older id has it too. */
  plain_id: Fixed<string | null>;
  publisher_id: Fixed<string>;
  name: string;
  /** The other fields that users and admins set, as in the contract. */
  details: Json;
  /** Counts nodes in the order of their creation. */
  number: Fixed<number>;
  /** Lower-case id, name, description and tags, for search; `registry/search-index.ts` builds it. */
  search_text: string;
  /** The node's place in search results, first to last; null while search does not find it. */
  search_key: number | null;
  search_ranking: number;
  status: string;
  status_detail: string | null;
  downloads: number;
  latest_version_id: string | null;
  created_at: Fixed<Time>;
}

export interface VersionTable {
  id: Fixed<string>;
  node_id: Fixed<string>;
  version: Fixed<string>;
  /** The other fields that users and admins set, as in the contract. */
  details: Json;
  status: string;
  status_reason: string | null;
  extract_status: 'pending' | 'success' | 'failed';
  /** Bytes, SHA-256 and tree digest of the archive; null until the upload (the tree until the check). */
  archive_size: number | null;
  archive_sha256: string | null;
  archive_tree: string | null;
  /** Its key in the storage; null until the upload. */
  archive_key: string | null;
  uploaded_at: Time | null;
  created_at: Fixed<Time>;
  /** What the CI job was that registered it; null if it was not one. */
  provenance: Json | null;
  /** Until when an owner may approve it; null if it needs no approval. */
  approve_by: Time | null;
  /** What it says of its node, which holds once it is approved; null if it needs no approval. */
  node_update: Json | null;
}

export interface ReadmeTable {
  version_id: Fixed<string>;
  text: string;
}

export interface HostNodeTable {
  version_id: Fixed<string>;
  node_id: Fixed<string>;
  name: Fixed<string>;
  definition: Json;
  policy: string;
  /** 1 while the list of all definitions includes it; `registry/listed-host-nodes.ts` updates it. */
  listed: Generated<0 | 1>;
}

/** Versions of the registry behind this one whose archives were served, as they were then. */
export interface UplinkVersionTable {
  node_id: Fixed<string>;
  version: Fixed<string>;
  /** The node and the version, in the form of the contract. */
  node: Fixed<Json>;
  details: Fixed<Json>;
  archive_key: Fixed<string>;
  archive_size: Fixed<number>;
  archive_sha256: Fixed<string>;
  archive_tree: Fixed<string>;
  fetched_at: Fixed<Time>;
}
