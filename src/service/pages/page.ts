import type { z } from 'zod';
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
  /** Answers another operation that is open to anyone, as the caller sees it. @throws Refused */
  read<Name extends OperationName>(
    name: Name,
    input: { readonly params?: Readonly<Record<string, string>>; readonly query?: object },
  ): Promise<OperationAnswer<Name>>;
}

/** A page for people: the answer of an operation, drawn. Who may read it is what the operation says. */
export interface Page<Name extends OperationName = OperationName> {
  /** With the path parameters of the operation. */
  readonly path: `/${string}`;
  readonly operation: Name;
  /** Query parameters of the page; absent: those of the operation. */
  readonly query?: z.ZodObject;
  /** Absent: HTML. */
  readonly type?: string;
  render(answer: OperationAnswer<Name>, request: PageRequest): Html | Promise<Html>;
}

export function definePage<Name extends OperationName>(page: Page<Name>): Page {
  return page as unknown as Page;
}

const SOURCES = "style-src 'self'; img-src 'self' https: data:; media-src 'self' https:; form-action 'self'";

/** Headers of pages. Nothing on them runs, and nothing embeds them. */
export const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': `default-src 'none'; ${SOURCES}; base-uri 'none'; frame-ancestors 'none'`,
};

const segment = encodeURIComponent;

export const toNodePath = (id: string) => `/web/nodes/${segment(id)}`;
export const toVersionPath = (id: string, version: string) =>
  `${toNodePath(id)}/versions/${segment(version)}`;
export const toPublisherPath = (id: string) => `/web/publishers/${segment(id)}`;
