function code(status: number, exit: number, meaning: string) {
  return { status, exit, meaning } as const;
}

/**
 * Every error code of the service, with its HTTP status, the exit code of the command line and its meaning.
 * Codes are stable: a published code never changes its meaning.
 */
export const errorCodes = {
  invalid_request: code(400, 2, 'A value is missing, of the wrong type or breaks a rule.'),
  malformed_json: code(400, 2, 'The body is not valid JSON.'),
  invalid_personal_access_token: code(
    400,
    4,
    'The personal access token in the body of a publish is unknown, expired, revoked, or belongs to another publisher. One that is sent as the credential and is unknown is `unauthenticated`.',
  ),
  duplicate_publisher: code(400, 5, 'The publisher id is taken.'),
  duplicate_node: code(400, 5, 'The node id is taken, in this or a similar spelling.'),
  member_exists: code(400, 5, 'The person is a member of the publisher, with another role.'),
  node_deleted: code(400, 5, 'The node was deleted; its id cannot be used again.'),
  version_exists: code(400, 5, 'The version number was already used.'),
  invalid_transition: code(400, 2, 'The status cannot change that way.'),
  idempotency_mismatch: code(400, 2, 'The idempotency key was used with a different request.'),
  upload_incomplete: code(400, 7, 'The upload ended before all bytes arrived.'),
  unauthenticated: code(
    401,
    4,
    'The credential is missing, unknown, expired or revoked, such as a personal access token that is sent as one.',
  ),
  forbidden: code(403, 4, 'The credential is valid but does not allow this.'),
  admin_required: code(403, 4, 'Only an admin may do this.'),
  not_offered: code(403, 4, 'The rules of this registry exclude what the registry behind it has.'),
  banned: code(403, 4, 'The node or its publisher is banned.'),
  quota_exceeded: code(
    403,
    4,
    'A quota of the user, API key or publisher is used up; the message names it, and when it starts again if it does.',
  ),
  identity_refused: code(
    403,
    4,
    'The identity of the CI job matches no trust of the publisher; the details name each claim.',
  ),
  node_not_allowed: code(403, 4, 'The personal access token is limited to other nodes.'),
  invalid_signature: code(403, 4, 'The signed URL has expired or was modified.'),
  host_not_allowed: code(403, 2, 'A service on loopback only answers requests addressed to loopback.'),
  not_found: code(404, 3, 'It does not exist, or this caller may not see it.'),
  method_not_allowed: code(405, 2, 'The path does not support this method.'),
  definitions_already_set: code(409, 5, 'The definitions of this version are already stored.'),
  idempotency_in_flight: code(409, 7, 'A request with the same idempotency key is still running.'),
  unknown_cursor: code(410, 5, 'The feed does not have the change of the cursor; start again without one.'),
  length_required: code(411, 2, 'The upload has no Content-Length.'),
  too_large: code(413, 2, 'The body is larger than this operation accepts.'),
  unsupported_media_type: code(415, 2, 'The content type of the body is not accepted here.'),
  range_not_satisfiable: code(416, 2, 'The range is outside the file.'),
  rate_limited: code(429, 7, 'Too many requests from this caller.'),
  internal: code(500, 7, 'The service failed; its logs say more under the request id.'),
  // Decided: what only the operator can change is not retried: 501 without Retry-After.
  not_supported: code(501, 6, 'The service cannot do this as its operator has set it up.'),
  unavailable: code(
    503,
    7,
    'The service is starting or stopping, or something it depends on does not respond.',
  ),
};

export type ErrorCode = keyof typeof errorCodes;
