/**
 * Every error code of the service, with its HTTP status, the exit code of the command line and its meaning.
 * Codes are stable: a published code never changes its meaning.
 */
export const errorCodes = {
  invalid_request: {
    status: 400,
    exit: 2,
    meaning: 'A value is missing, of the wrong type or breaks a rule.',
  },
  malformed_json: { status: 400, exit: 2, meaning: 'The body is not valid JSON.' },
  invalid_personal_access_token: {
    status: 400,
    exit: 4,
    meaning: 'The personal access token is unknown, expired, revoked, or belongs to another publisher.',
  },
  duplicate_publisher: { status: 400, exit: 5, meaning: 'The publisher id is taken.' },
  duplicate_node: { status: 400, exit: 5, meaning: 'The node id is taken, in this or a similar spelling.' },
  node_deleted: { status: 400, exit: 5, meaning: 'The node was deleted; its id cannot be used again.' },
  version_exists: { status: 400, exit: 5, meaning: 'The version number was already used.' },
  invalid_transition: { status: 400, exit: 2, meaning: 'The status cannot change that way.' },
  idempotency_mismatch: {
    status: 400,
    exit: 2,
    meaning: 'The idempotency key was used with a different request.',
  },
  upload_incomplete: { status: 400, exit: 7, meaning: 'The upload ended before all bytes arrived.' },
  unauthenticated: {
    status: 401,
    exit: 4,
    meaning: 'The credential is missing, unknown, expired or revoked.',
  },
  forbidden: { status: 403, exit: 4, meaning: 'The credential is valid but does not allow this.' },
  admin_required: { status: 403, exit: 4, meaning: 'Only an admin may do this.' },
  banned: { status: 403, exit: 4, meaning: 'The node or its publisher is banned.' },
  quota_exceeded: {
    status: 403,
    exit: 4,
    meaning: 'A quota of the user or publisher is used up; the message names it and says when to continue.',
  },
  node_not_allowed: {
    status: 403,
    exit: 4,
    meaning: 'The personal access token is limited to other nodes.',
  },
  invalid_signature: { status: 403, exit: 4, meaning: 'The signed URL has expired or was modified.' },
  host_not_allowed: {
    status: 403,
    exit: 2,
    meaning: 'A service on loopback only answers requests addressed to loopback.',
  },
  not_found: { status: 404, exit: 3, meaning: 'It does not exist, or this caller may not see it.' },
  method_not_allowed: { status: 405, exit: 2, meaning: 'The path does not support this method.' },
  definitions_already_set: {
    status: 409,
    exit: 5,
    meaning: 'The definitions of this version are already stored.',
  },
  idempotency_in_flight: {
    status: 409,
    exit: 7,
    meaning: 'A request with the same idempotency key is still running.',
  },
  too_large: { status: 413, exit: 2, meaning: 'The body is larger than this operation accepts.' },
  unsupported_media_type: {
    status: 415,
    exit: 2,
    meaning: 'The content type of the body is not accepted here.',
  },
  range_not_satisfiable: { status: 416, exit: 2, meaning: 'The range is outside the file.' },
  rate_limited: { status: 429, exit: 7, meaning: 'Too many requests from this caller.' },
  internal: { status: 500, exit: 7, meaning: 'The service failed; its logs say more under the request id.' },
  unavailable: {
    status: 503,
    exit: 7,
    meaning: 'The service is starting or stopping, or something it depends on does not respond.',
  },
} as const satisfies Record<string, { status: number; exit: number; meaning: string }>;

export type ErrorCode = keyof typeof errorCodes;
