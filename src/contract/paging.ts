import { z } from 'zod';

const page = z.int().min(1).default(1).describe('Page number, starting at 1');

/** Decided: the query parameters of paged lists are `page` and `limit` (10, at most 100). */
export const Paging = z.object({
  page,
  limit: z.int().min(1).max(100).default(10).describe('Items per page'),
});

/** Decided: `/host-nodes` pages with `page` and `pageSize` (100, at most 100). */
export const HostNodePaging = z.object({
  page,
  pageSize: z.int().min(1).max(100).default(100).describe('Items per page'),
});

/** A page of a list, with its items under their own name. */
export const definePage = <Items extends z.ZodRawShape>(items: Items) =>
  z.object({ limit: z.int(), ...items, page: z.int(), total: z.int(), totalPages: z.int() });
