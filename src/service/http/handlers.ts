import type { OperationName } from '../../contract/index.js';
import { protectedResource } from '../auth/protected-resource.js';
import { listDeliveries } from '../events/deliveries.js';
import { rotateWebhookSecret, showWebhookSecret } from '../events/secrets.js';
import { taskAccount } from '../generation/account.js';
import { startImage, startVideo } from '../generation/create.js';
import { creationsOfTask, statusOf } from '../generation/view.js';
import { audit } from '../registry/admin/audit.js';
import { setHostNodePolicy } from '../registry/admin/host-nodes.js';
import { setNode } from '../registry/admin/nodes.js';
import { setPublisher } from '../registry/admin/publishers.js';
import { generateAdminToken, listAdminTokens, revokeAdminToken } from '../registry/admin/tokens.js';
import { setVersionStatus } from '../registry/admin/versions.js';
import { bulkVersions } from '../registry/bulk.js';
import { defineHostNodes } from '../registry/define.js';
import { getHostNode, listAllHostNodes, listHostNodes } from '../registry/host-nodes.js';
import { installNode } from '../registry/install.js';
import { addMember, listMembers, removeMember, setMember } from '../registry/members.js';
import { listNodes, searchNodes } from '../registry/node-pages.js';
import { createNode, deleteNode, getNode, updateNode } from '../registry/nodes.js';
import { publishVersion, replayPublished, withoutSignedUrl } from '../registry/publish.js';
import { createPublisher, getPublisher, listPublishers, updatePublisher } from '../registry/publishers.js';
import { createToken, listTokens, revokeToken } from '../registry/tokens.js';
import { me } from '../registry/users.js';
import {
  deleteVersion,
  getVersion,
  listVersions,
  updateVersion,
  versionHistory,
} from '../registry/versions.js';
import type { Handler } from './handler.js';
import { preparedInData, readInData } from './in-data.js';

/** What answers each operation; one without an entry does not compile. */
export const handlers: { readonly [Name in OperationName]: Handler<Name> } = {
  'publisher.create': { write: createPublisher },
  'publisher.get': { read: getPublisher },
  'publisher.list': { read: listPublishers },
  'publisher.update': { write: updatePublisher },
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
  'node.install': { write: installNode },
  'version.publish': { write: publishVersion, keep: withoutSignedUrl, replay: replayPublished },
  'version.update': { write: updateVersion },
  'version.get': { read: getVersion },
  'version.list': { read: listVersions },
  'version.delete': { write: deleteVersion },
  'version.history': { read: versionHistory },
  'version.bulk': { read: bulkVersions },
  'hostNodes.get': { read: getHostNode },
  'hostNodes.listAll': { read: listAllHostNodes },
  'hostNodes.list': { read: listHostNodes },
  'hostNodes.define': { write: defineHostNodes },
  'user.me': { read: me },
  'webhook.secret': { write: showWebhookSecret },
  'webhook.rotateSecret': { write: rotateWebhookSecret },
  'webhook.deliveries': { read: listDeliveries },
  'image.relight': { prepare: preparedInData(startImage('image.relight')) },
  'image.relightStatus': { read: readInData(statusOf('image.relight')) },
  'image.styleTransfer': { prepare: startImage('image.styleTransfer') },
  'image.styleTransferStatus': { read: statusOf('image.styleTransfer') },
  'image.skinEnhancer': { prepare: preparedInData(startImage('image.skinEnhancer')) },
  'image.skinEnhancerStatus': { read: readInData(statusOf('image.skinEnhancer')) },
  'image.upscaler': { prepare: preparedInData(startImage('image.upscaler')) },
  'image.upscalerStatus': { read: readInData(statusOf('image.upscaler')) },
  'video.text2video': { prepare: startVideo('video.text2video') },
  'video.startEnd2video': { prepare: startVideo('video.startEnd2video') },
  'video.extend': { prepare: startVideo('video.extend') },
  'video.creations': { read: creationsOfTask },
  'video.prices': { read: async ({ context }) => context.configuration.prices },
  'task.get': { read: taskAccount },
  'admin.generateToken': { write: generateAdminToken },
  'admin.node.set': { write: setNode },
  'admin.version.setStatus': { write: setVersionStatus },
  'admin.hostNode.setPolicy': { write: setHostNodePolicy },
  'admin.publisher.set': { write: setPublisher },
  'admin.audit': { read: audit },
  'admin.token.list': { read: listAdminTokens },
  'admin.token.revoke': { write: revokeAdminToken },
  'service.protectedResource': { read: protectedResource },
};
