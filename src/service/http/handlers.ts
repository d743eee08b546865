import { protectedResourceHandlers } from '../auth/protected-resource.js';
import { cancelTaskHandlers } from '../generation/cancel-task.js';
import { keyHandlers } from '../generation/keys.js';
import { startTaskHandlers } from '../generation/start-task.js';
import { taskViewHandlers } from '../generation/task-views.js';
import { usageHandlers } from '../generation/usage.js';
import type { Handlers } from '../operation/call.js';
import { adminHostNodeHandlers } from '../registry/admin/host-nodes.js';
import { adminNodeHandlers } from '../registry/admin/nodes.js';
import { adminPublisherHandlers } from '../registry/admin/publishers.js';
import { adminTokenHandlers } from '../registry/admin/tokens.js';
import { adminVersionHandlers } from '../registry/admin/versions.js';
import { auditHandlers } from '../registry/audit.js';
import { bulkHandlers } from '../registry/bulk.js';
import { definitionHandlers } from '../registry/define-host-nodes.js';
import { hostNodeHandlers } from '../registry/host-nodes.js';
import { installHandlers } from '../registry/install.js';
import { memberHandlers } from '../registry/members.js';
import { nodePageHandlers } from '../registry/node-pages.js';
import { nodeHandlers } from '../registry/nodes.js';
import { publishHandlers } from '../registry/publish.js';
import { publisherHandlers } from '../registry/publishers.js';
import { reviewHandlers } from '../registry/review.js';
import { tokenHandlers } from '../registry/tokens.js';
import { userHandlers } from '../registry/users.js';
import { versionHandlers } from '../registry/versions.js';
import { deliveryHandlers } from '../webhooks/deliveries.js';
import { webhookSecretHandlers } from '../webhooks/secrets.js';

/** The handler of each operation. One without a handler does not compile. */
export const handlers: Handlers = {
  ...protectedResourceHandlers,
  ...cancelTaskHandlers,
  ...keyHandlers,
  ...startTaskHandlers,
  ...taskViewHandlers,
  ...usageHandlers,
  ...adminHostNodeHandlers,
  ...adminNodeHandlers,
  ...adminPublisherHandlers,
  ...adminTokenHandlers,
  ...adminVersionHandlers,
  ...auditHandlers,
  ...bulkHandlers,
  ...definitionHandlers,
  ...hostNodeHandlers,
  ...installHandlers,
  ...memberHandlers,
  ...nodePageHandlers,
  ...nodeHandlers,
  ...publishHandlers,
  ...publisherHandlers,
  ...reviewHandlers,
  ...tokenHandlers,
  ...userHandlers,
  ...versionHandlers,
  ...deliveryHandlers,
  ...webhookSecretHandlers,
};
