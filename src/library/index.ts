/// <reference types="node" preserve="true" />
/** The entry of the package: a typed client of the service, and the flows that take several requests. */
export type {
  Answered,
  CallOptions,
  ClientOptions,
  RawAnswer,
  RawRequest,
} from '../client/client-options.js';
export {
  ClientError,
  InvalidRequestError,
  NetworkError,
  ResponseError,
  ServiceError,
  type ServiceErrorCode,
  StillRunningError,
} from '../client/errors.js';
export { items, pages } from '../client/pages.js';
export type { Trace } from '../client/trace.js';
export type { Downloaded, DownloadOptions, UploadOptions } from '../client/transfer.js';
export { type WaitOptions, wait } from '../client/wait.js';
export { verifyWebhook, type Webhook, type WebhookProblem } from '../client/webhook.js';
export { type ErrorCode, errorCodes } from '../contract/error-codes.js';
export { InvalidNaming, loadNaming } from '../contract/naming/load-naming.js';
export type { Naming } from '../contract/naming/naming.js';
export type { NamingMap } from '../contract/naming/naming-map.js';
export { FlowError, type FlowErrorCode } from '../flows/flow-error.js';
export { signWebhook } from '../wire/webhook-signature.js';
export type * from './api.generated.js';
export { type Client, createClient } from './client.js';
export { type PublishOptions, publish } from './publish.js';
export { type FinishedTask, type Job, type RunOptions, run } from './run.js';
