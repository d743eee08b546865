import { isDeepStrictEqual } from 'node:util';
import { contract } from '../../contract/index.js';
import { adaptOperation } from '../../contract/naming/adapt-operation.js';
import type { NamedOperation, Naming } from '../../contract/naming/naming.js';
import type { Rewrite } from '../../contract/naming/naming-map.js';
import { createNamedDocument } from '../../contract/naming/rename-document.js';
import type { Side } from '../../contract/naming/rename-value.js';
import { createOpenApiDocument, type DocumentOptions } from '../../contract/openapi.js';
import type { Operation } from '../../contract/operation.js';
import { createOutline } from '../../contract/schema/create-outline.js';
import type { Names } from '../../contract/schema/message.js';
import type { Outline } from '../../contract/schema/outline.js';
import { completeVersion } from '../../contract/schema/semantic-version.js';

/** Where an operation is reached, and in whose names it answers there. */
export interface OperationRoute {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
  /** Absent where everything has the names of the contract. */
  readonly names?: RouteNames;
}

export interface RouteNames {
  /** How a refusal calls fields and values; on a path of both services as its request does. */
  chooseNames(request: { readonly query: unknown; readonly body: unknown }): Names;
  readQuery(query: unknown): unknown;
  readBody(body: unknown): unknown;
  /** @param text the answer as JSON */
  writeAnswer(text: string): string;
}

/**
 * Lists the routes of an operation: its own path, the path with the segments of the other service, and those that the
 * naming adds. A path that both services have answers in both names.
 */
export function listRoutes(
  naming: Naming | undefined,
  name: string,
  operation: Operation,
): readonly OperationRoute[] {
  const { method, path } = operation;
  if (!naming) return [{ method, path, operation }];
  const adapted = adaptOperation(naming, name, operation);
  const named: NamedOperation = { name, method, path };
  const build = (side: Side, rewrite?: Rewrite) => createRouteNames(naming, named, adapted, side, rewrite);
  const theirs = naming.renamePath(path);
  const added = naming.rewrites.flatMap((rewrite) => {
    const [realMethod = '', realPath = ''] = rewrite.real.split(' ');
    if (rewrite.regen !== `${method} ${path}`) return [];
    return [{ method: realMethod, path: realPath, operation: adapted, names: build('theirs', rewrite) }];
  });
  if (theirs === path) return [{ method, path, operation: adapted, names: build('both') }, ...added];
  const own = { method, path, operation };
  return [own, { method, path: theirs, operation: adapted, names: build('theirs') }, ...added];
}

/** Lists the OpenAPI documents: in the names of the contract, and in those of the other service. */
export function listDocuments(naming: Naming | undefined) {
  const own = {
    path: '/openapi.json',
    build: (options: DocumentOptions): object => createOpenApiDocument(contract, options),
  };
  const path = naming?.rewrites.find(({ regen }) => regen === `GET ${own.path}`)?.real.split(' ')[1];
  if (!naming || path === undefined) return [own];
  return [own, { path, build: (options: DocumentOptions) => createNamedDocument(naming, contract, options) }];
}

function createRouteNames(
  naming: Naming,
  { name }: NamedOperation,
  { body, query, response }: Operation,
  side: Side,
  rewrite?: Rewrite,
): RouteNames {
  const { behaviors } = naming;
  // Most routes of a process are never called.
  let outlines: { readonly input?: Outline | undefined; readonly output?: Outline | undefined } | undefined;
  const readOutlines = () => {
    outlines ??= {
      input: body && createOutline(body, 'input'),
      output: response && createOutline(response, 'output'),
    };
    return outlines;
  };
  const known = Object.keys(query?.shape ?? {});
  const ignored = (behaviors.ignoredQuery ?? []).filter((one) => !known.includes(one));
  const usesTheirs = (request: { readonly query: unknown; readonly body: unknown }) => {
    const query = naming.renameQuery(request.query as Fields, 'ours');
    const body = naming.renameBody(name, readOutlines().input, request.body, 'ours');
    return !isDeepStrictEqual([query, body], [{ ...(request.query as Fields) }, request.body]);
  };
  return {
    chooseNames: (request) => (side === 'theirs' || usesTheirs(request) ? naming.names : {}),
    readQuery(given) {
      const renamed = naming.renameQuery({ ...rewrite?.query, ...(given as object) }, 'ours');
      return Object.fromEntries(Object.entries(renamed).filter(([one]) => !ignored.includes(one)));
    },
    readBody(given) {
      const renamed = naming.renameBody(name, readOutlines().input, given, 'ours');
      const added = rewrite?.body ? { ...rewrite.body, ...(renamed as object | undefined) } : renamed;
      return behaviors.completeVersions ? completeBody(added) : added;
    },
    writeAnswer(text) {
      const answer = naming.renameBody(name, readOutlines().output, JSON.parse(text), side, [], true);
      const picked = rewrite?.answer === undefined ? answer : (answer as Fields)[rewrite.answer];
      const wrapper = side === 'theirs' ? behaviors.wrappedAnswers?.[name ?? ''] : undefined;
      return JSON.stringify(wrapper === undefined ? picked : { [wrapper]: picked });
    },
  };
}

type Fields = Readonly<Record<string, unknown>>;

/** The version that a body registers becomes SemVer: that service takes `1` and `1.2`. */
function completeBody(body: unknown): unknown {
  const { node_version } = (body ?? {}) as { node_version?: Fields };
  const version = node_version?.version;
  if (typeof version !== 'string') return body;
  return { ...(body as object), node_version: { ...node_version, version: completeVersion(version) } };
}
