import type { OperationName } from '../../contract/index.js';
import { getProtectedResource } from '../auth/protected-resource.js';
import { startImageTask, startVideoTask } from '../generation/start-task.js';
import { getAccount, getCreations, readImageTask } from '../generation/task-views.js';
import type { Handler, PreparedWrite } from '../operation/call.js';
import { setHostNodePolicy } from '../registry/admin/host-nodes.js';
import { setNode } from '../registry/admin/nodes.js';
import { setPublisher } from '../registry/admin/publishers.js';
import { generateAdminToken, listAdminTokens, revokeAdminToken } from '../registry/admin/tokens.js';
import { setVersionStatus } from '../registry/admin/versions.js';
import { listAuditEvents, listPublisherEvents } from '../registry/audit.js';
import { getVersionsInBulk } from '../registry/bulk.js';
import { defineHostNodes } from '../registry/define-host-nodes.js';
import { getHostNode, listAllHostNodes, listHostNodes } from '../registry/host-nodes.js';
import { installNode } from '../registry/install.js';
import { addMember, listMembers, removeMember, setMember } from '../registry/members.js';
import { listNodes, searchNodes } from '../registry/node-pages.js';
import { createNode, deleteNode, getNode, updateNode } from '../registry/nodes.js';
import { publishVersion, removeSignedUrl, replayPublish } from '../registry/publish.js';
import { createPublisher, getPublisher, listPublishers, updatePublisher } from '../registry/publishers.js';
import { createToken, listTokens, revokeToken } from '../registry/tokens.js';
import { getCurrentUser } from '../registry/users.js';
import {
  deleteVersion,
  getVersion,
  getVersionHistory,
  listVersions,
  updateVersion,
} from '../registry/versions.js';
import { listDeliveries } from '../webhooks/deliveries.js';
import { rotateWebhookSecret, showWebhookSecret } from '../webhooks/secrets.js';

// service.md answers most image tasks as { data: task }, and those of style transfer unwrapped.

/** Wraps the answers of a handler that starts tasks as `{ data }`. */
function wrapPrepared<Call, Answer>(
  prepare: (call: Call) => Promise<PreparedWrite<Answer>>,
): (call: Call) => Promise<PreparedWrite<{ data: Answer }>> {
  return async (call) => {
    const { write, end } = await prepare(call);
    return { write: async (tx) => ({ data: await write(tx) }), end };
  };
}

/** Wraps the answers of a handler that reads as `{ data }`. */
function wrapRead<Arguments extends unknown[], Answer>(
  read: (...given: Arguments) => Promise<Answer>,
): (...given: Arguments) => Promise<{ data: Answer }> {
  return async (...given) => ({ data: await read(...given) });
}

/** The handler of each operation. One without an entry does not compile. */
export const handlers: { readonly [Name in OperationName]: Handler<Name> } = {
  'publisher.create': { write: createPublisher },
  'publisher.get': { read: getPublisher },
  'publisher.list': { read: listPublishers },
  'publisher.update': { write: updatePublisher },
  'publisher.audit': { read: listPublisherEvents },
  'publisher.token.create': { write: createToken },
  'publisher.token.list': { read: listTokens },
  'publisher.token.revoke': { write: revokeToken },
  'publisher.member.add': { write: addMember },
  'publisher.member.list': { read: listMembers },
  'publisher.member.set': { write: setMember },
  'publisher.member.remove': { write: removeMember },
  'node.create': { write: createNode },
  'node.get': { read: getNode },
  'node.list': { read: listNodes },
  'node.search': { read: searchNodes },
  'node.update': { write: updateNode },
  'node.delete': { write: deleteNode },
  // A HEAD must not count as an installation.
  'node.install': { read: installNode, noHead: true },
  'version.publish': { write: publishVersion, keep: removeSignedUrl, replay: replayPublish },
  'version.update': { write: updateVersion },
  'version.get': { read: getVersion },
  'version.list': { read: listVersions },
  'version.delete': { write: deleteVersion },
  'version.history': { read: getVersionHistory },
  'version.bulk': { read: getVersionsInBulk },
  'hostNodes.get': { read: getHostNode },
  'hostNodes.listAll': { read: listAllHostNodes },
  'hostNodes.list': { read: listHostNodes },
  'hostNodes.define': { write: defineHostNodes },
  'user.me': { read: getCurrentUser },
  'webhook.secret': { write: showWebhookSecret },
  'webhook.rotateSecret': { write: rotateWebhookSecret },
  'webhook.deliveries': { read: listDeliveries },
  'image.relight': { prepare: wrapPrepared(startImageTask('image.relight')) },
  'image.relightStatus': { read: wrapRead(readImageTask('image.relight')) },
  'image.styleTransfer': { prepare: startImageTask('image.styleTransfer') },
  'image.styleTransferStatus': { read: readImageTask('image.styleTransfer') },
  'image.skinEnhancer': { prepare: wrapPrepared(startImageTask('image.skinEnhancer')) },
  'image.skinEnhancerStatus': { read: wrapRead(readImageTask('image.skinEnhancer')) },
  'image.upscaler': { prepare: wrapPrepared(startImageTask('image.upscaler')) },
  'image.upscalerStatus': { read: wrapRead(readImageTask('image.upscaler')) },
  'video.text2video': { prepare: startVideoTask('video.text2video') },
  'video.startEnd2video': { prepare: startVideoTask('video.startEnd2video') },
  'video.extend': { prepare: startVideoTask('video.extend') },
  'video.creations': { read: getCreations },
  'video.prices': { read: async ({ context }) => context.configuration.prices },
  'task.get': { read: getAccount },
  'admin.generateToken': { write: generateAdminToken },
  'admin.node.set': { write: setNode },
  'admin.version.setStatus': { write: setVersionStatus },
  'admin.hostNode.setPolicy': { write: setHostNodePolicy },
  'admin.publisher.set': { write: setPublisher },
  'admin.audit': { read: listAuditEvents },
  'admin.token.list': { read: listAdminTokens },
  'admin.token.revoke': { write: revokeAdminToken },
  'service.protectedResource': { read: getProtectedResource },
};
