import { pageSessionHandlers } from '../auth/page-sessions.js';
import { protectedResourceHandlers } from '../auth/protected-resource.js';
import { statementKeyHandlers } from '../auth/statements.js';
import { keyHandlers } from '../generation/keys.js';
import { taskHandlers } from '../generation/start-task.js';
import { taskStatementHandlers } from '../generation/task-statement.js';
import { taskViewHandlers } from '../generation/task-views.js';
import { usageHandlers } from '../generation/usage.js';
import type { Handlers } from '../operation/call.js';
import { adminHandlers } from '../registry/admin.js';
import { auditHandlers } from '../registry/audit.js';
import { changeHandlers } from '../registry/changes.js';
import { definitionHandlers } from '../registry/definitions.js';
import { hostNodeHandlers } from '../registry/host-nodes.js';
import { identityHandlers } from '../registry/identity-exchange.js';
import { invitationHandlers } from '../registry/invitations.js';
import { memberHandlers } from '../registry/members.js';
import { nodePageHandlers } from '../registry/node-pages.js';
import { nodeHandlers } from '../registry/nodes.js';
import { publishHandlers } from '../registry/publish.js';
import { publisherHandlers } from '../registry/publishers.js';
import { tokenHandlers } from '../registry/tokens.js';
import { trustHandlers } from '../registry/trusts.js';
import { userHandlers } from '../registry/users.js';
import { versionStatementHandlers } from '../registry/version-statement.js';
import { versionHandlers } from '../registry/versions.js';
import { deliveryHandlers } from '../webhooks/deliveries.js';
import { webhookSecretHandlers } from '../webhooks/secrets.js';

/** The handler of each operation. One without a handler does not compile. */
export const handlers: Handlers = {
  ...adminHandlers,
  ...taskHandlers,
  ...versionHandlers,
  ...pageSessionHandlers,
  ...protectedResourceHandlers,
  ...keyHandlers,
  ...taskViewHandlers,
  ...usageHandlers,
  ...auditHandlers,
  ...changeHandlers,
  ...definitionHandlers,
  ...hostNodeHandlers,
  ...identityHandlers,
  ...invitationHandlers,
  ...memberHandlers,
  ...nodePageHandlers,
  ...nodeHandlers,
  ...publishHandlers,
  ...publisherHandlers,
  ...tokenHandlers,
  ...trustHandlers,
  ...userHandlers,
  ...deliveryHandlers,
  ...webhookSecretHandlers,
  ...statementKeyHandlers,
  ...taskStatementHandlers,
  ...versionStatementHandlers,
};
