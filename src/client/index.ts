/** The entry of the package: a typed client of the service. */
export { contract } from '../contract/index.js';
export { signWebhook } from '../wire/webhook-signature.js';
export {
  type Answered,
  type CallOptions,
  type Calls,
  type Client,
  type ClientOptions,
  createClient,
  type RawAnswer,
  type RawRequest,
} from './client.js';
export {
  ClientError,
  InvalidRequestError,
  NetworkError,
  ResponseError,
  ServiceError,
  StillRunningError,
} from './errors.js';
export { items, pages } from './pages.js';
export type { Input, Output } from './prepare.js';
export type { Trace } from './trace.js';
export type { Downloaded, DownloadOptions, UploadOptions } from './transfer.js';
export { type WaitOptions, wait } from './wait.js';
export { verifyWebhook, type Webhook, type WebhookProblem } from './webhook.js';
