import type { OperationName } from '../../contract/index.js';
import type { OperationAnswer } from '../operation/call.js';
import type { Caller } from '../operation/caller.js';
import type { Html } from './html.js';

/** What a page is drawn from besides the answer of its operation. */
export interface PageRequest {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly caller: Caller;
  /** Where the service is reached, without a trailing slash. */
  readonly baseUrl: string;
  /** Whether clients of the public registry can use this one. */
  readonly hasOtherNames: boolean;
  /** Whether nodes of another registry are listed as well, whose rules make `total` of a search too high. */
  readonly hasUplink: boolean;
  /** The flag with a space before it with which commands ask this service; empty for the embedded one, which they find. */
  readonly serviceFlag: string;
  /** Answers another operation that is open to anyone, as the caller sees it. @throws Refused */
  read<Name extends OperationName>(
    name: Name,
    input: { readonly params?: Readonly<Record<string, string>>; readonly query?: object },
  ): Promise<OperationAnswer<Name>>;
}

export type Draw<Name extends OperationName> = (
  answer: OperationAnswer<Name>,
  request: PageRequest,
) => Html | Promise<Html>;

/** Where the pages of the documentation are. */
export const DOCS = 'https://github.com/regen-cli/regen/blob/main/docs';

const segment = encodeURIComponent;

export const toNodePath = (id: string) => `/web/nodes/${segment(id)}`;
export const toVersionPath = (id: string, version: string) =>
  `${toNodePath(id)}/versions/${segment(version)}`;
export const toPublisherPath = (id: string) => `/web/publishers/${segment(id)}`;
