import { isRecord } from '../../contract/json.js';
import { type NamedOperation, type Naming, VIDEO_FIELDS } from '../../contract/naming/naming.js';
import type { Rewrite } from '../../contract/naming/naming-map.js';
import type { Side } from '../../contract/naming/rename-value.js';
import type { Operation } from '../../contract/operation.js';
import { createOutline } from '../../contract/schema/create-outline.js';
import type { Outline } from '../../contract/schema/outline.js';
import { completeVersion } from '../../contract/schema/semantic-version.js';

/** Where an operation is reached, and in whose names it answers there. */
export interface OperationRoute {
  readonly method: string;
  readonly path: string;
  /** Absent where everything has the names of the contract. */
  readonly names?: RouteNames;
}

/** What the names of another service change at one route. */
export interface RouteNames {
  readonly side: Side;
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
  if (!naming) return [{ method, path }];
  const named: NamedOperation = { name, method, path };
  const build = (side: Side, rewrite?: Rewrite) => createRouteNames(naming, named, operation, side, rewrite);
  const theirs = naming.renamePath(path);
  const added = naming.rewrites.flatMap((rewrite) => {
    const [realMethod = '', realPath = ''] = rewrite.real.split(' ');
    if (rewrite.regen !== `${method} ${path}`) return [];
    return [{ method: realMethod, path: realPath, names: build('theirs', rewrite) }];
  });
  if (theirs === path) return [{ method, path, names: build('both') }, ...added];
  return [{ method, path }, { method, path: theirs, names: build('theirs') }, ...added];
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
  const assumed = behaviors.assumedFields?.[name ?? ''];
  const unread = behaviors.ignoredFields?.[name ?? ''] ?? [];
  const isExtend = name === 'video.extend' && behaviors.extendWithEither === true;
  return {
    side,
    readQuery(given) {
      const renamed = naming.renameQuery({ ...rewrite?.query, ...(given as object) }, 'ours');
      return Object.fromEntries(Object.entries(renamed).filter(([one]) => !ignored.includes(one)));
    },
    readBody(given) {
      const renamed = naming.renameBody(name, readOutlines().input, given, 'ours');
      const filled = isRecord(renamed) ? fillFields(renamed, assumed, unread) : renamed;
      const added = rewrite?.body ? { ...rewrite.body, ...(filled as object | undefined) } : filled;
      if (name === 'version.publish' && behaviors.completeVersions) return completeBody(added);
      return isExtend ? fillVideo(added) : added;
    },
    writeAnswer(text) {
      const answer = naming.renameBody(name, readOutlines().output, JSON.parse(text), side, [], true);
      const own = isExtend ? removeStandIn(answer as Fields) : answer;
      const picked = rewrite?.answer === undefined ? own : (own as Fields)[rewrite.answer];
      const wrapper = side === 'theirs' ? behaviors.wrappedAnswers?.[name ?? ''] : undefined;
      return JSON.stringify(wrapper === undefined ? picked : { [wrapper]: picked });
    },
  };
}

type Fields = Readonly<Record<string, unknown>>;

/** Fills in what the clients of the other service leave out, and removes what means nothing here. */
function fillFields(body: Fields, assumed: Fields | undefined, unread: readonly string[]): Fields {
  const kept = Object.entries(body).filter(([field]) => !unread.includes(field));
  return { ...assumed, ...Object.fromEntries(kept) };
}

/** `1` and `1.2` become SemVer, as that service takes them. */
function completeBody(body: unknown): unknown {
  const { node_version } = (body ?? {}) as { node_version?: Fields };
  const version = node_version?.version;
  if (typeof version !== 'string') return body;
  return { ...(body as object), node_version: { ...node_version, version: completeVersion(version) } };
}

/** Stands for the name of the video that is not given; no creation has the id, and no host the name. */
const STAND_IN: Fields = { video_creation_id: 'by-url', video_url: 'https://creation.invalid/' };

function fillVideo(body: unknown): unknown {
  const given = (body ?? {}) as Fields;
  return VIDEO_FIELDS.some((field) => given[field] !== undefined) ? { ...STAND_IN, ...given } : body;
}

function removeStandIn(answer: Fields): Fields {
  return Object.fromEntries(Object.entries(answer).filter(([name, value]) => STAND_IN[name] !== value));
}
