import { isRecord, parseJson } from '../../contract/json.js';
import { completeVersion, isSemanticVersion } from '../../contract/schema/semantic-version.js';
import { findJsonExcess } from '../../wire/json-limits.js';

/** The pack that a workflow records for a node. */
export interface RecordedPack {
  readonly node_id: string;
  /** Absent if the workflow records none, or a commit. */
  readonly version?: string | undefined;
}

/** Where the value of a linked input comes from. */
export interface Link {
  /** The node, if it is one of the same graph. */
  readonly from: string | undefined;
  readonly slot: number;
  /** The type that was recorded with the link. */
  readonly type: string | undefined;
}

/** A node of a workflow, in either format. */
export interface WorkflowNode {
  /** `12`; `Upscale/12` in a subgraph. */
  readonly id: string;
  readonly name: string;
  readonly pack: RecordedPack | undefined;
  /** On GitHub, as `owner/name`, of a pack that was installed by git. */
  readonly repository?: string | undefined;
  /** False if it is muted or bypassed, so that its values do not matter. */
  readonly isActive: boolean;
  /** False if nothing says that it is more than a widget of the editor. */
  readonly isFromPack: boolean;
  /** The inputs that the editor shows as sockets; undefined in the format of the API, which has all inputs by name. */
  readonly sockets: ReadonlySet<string> | undefined;
  readonly links: ReadonlyMap<string, Link>;
  /** Whether its result is used; undefined if it only leads to nodes whose outputs nothing takes, which may not run. */
  readonly isUsed: boolean | undefined;
  /** Saved values by input. */
  readonly values: ReadonlyMap<string, unknown> | undefined;
  /** Saved values by position. */
  readonly list: readonly unknown[] | undefined;
  /** The inputs that the values of `list` belong to, if the file names them. */
  readonly widgets: readonly string[] | undefined;
}

export interface Workflow {
  readonly file: string;
  readonly nodes: readonly WorkflowNode[];
}

/** Not a workflow; the message is a sentence without its subject. */
export class NotAWorkflow extends Error {
  override readonly name = 'NotAWorkflow';
}

/** Published workflows have a hundredth. */
export const MAX_WORKFLOW_BYTES = 64 * 1024 ** 2;
const LIMITS = { maxDepth: 200, maxValues: 2_000_000 };
const MAX_NODES = 20_000;
const MAX_NAME = 1024;

/** Nodes that the editor has itself, and that reach no host. */
const EDITOR_NODES = new Set(['Note', 'MarkdownNote', 'PrimitiveNode', 'Reroute']);

/** Modes of a node: it never runs, or it hands on what it gets. */
const MUTED = 2;
const BYPASSED = 4;

/** The nodes that stand for the inputs and outputs of a subgraph, inside it. */
const SUBGRAPH_INPUT = '-10';

/**
 * Reads a workflow as the graph editor saves it, with its subgraphs, or as the API takes it.
 * @throws NotAWorkflow
 */
export function parseWorkflow(file: string, content: Buffer): Workflow {
  const excess = findJsonExcess(content, LIMITS);
  if (excess) throw new NotAWorkflow(excess === 'depth' ? 'is nested too deeply' : 'has too many values');
  const whole = parseJson(content.toString('utf8').replace(/^\uFEFF/, ''));
  if (whole === undefined) throw new NotAWorkflow('is not JSON');
  const nodes =
    findNodes(whole) ?? (isRecord(whole) && (findNodes(whole.workflow) ?? findNodes(whole.prompt)));
  if (!nodes) throw new NotAWorkflow('is not a workflow: it has neither nodes nor entries with a class_type');
  if (nodes.length > MAX_NODES) throw new NotAWorkflow(`has more than ${MAX_NODES} nodes`);
  if (nodes.some(({ name }) => name.length > MAX_NAME))
    throw new NotAWorkflow(`has a node with a name of more than ${MAX_NAME} characters`);
  return { file, nodes };
}

function findNodes(value: unknown): WorkflowNode[] | undefined {
  if (!isRecord(value)) return undefined;
  if (Array.isArray(value.nodes)) return readEditorFile(value);
  const entries = Object.entries(value).filter(
    ([, node]) => isRecord(node) && typeof node.class_type === 'string',
  );
  return entries.length > 0 ? readApiFile(entries as ApiEntry[]) : undefined;
}

type Fields = Readonly<Record<string, unknown>>;
type ApiEntry = readonly [id: string, node: Fields & { readonly class_type: string }];

function readApiFile(entries: readonly ApiEntry[]): WorkflowNode[] {
  const used = new Set<string>();
  const nodes = entries.map(([id, { class_type: name, inputs }]) => {
    const given = isRecord(inputs) ? Object.entries(inputs) : [];
    const links = new Map<string, Link>();
    const values = new Map<string, unknown>();
    for (const [input, value] of given) {
      const [from, slot] = Array.isArray(value) && value.length === 2 ? value : [];
      if (typeof slot === 'number' && (typeof from === 'string' || typeof from === 'number')) {
        links.set(input, { from: String(from), slot, type: undefined });
        used.add(String(from));
      } else values.set(input, isRecord(value) && '__value__' in value ? value.__value__ : value);
    }
    const rest = { pack: undefined, isActive: true, isFromPack: true };
    const unnamed = { sockets: undefined, list: undefined, widgets: undefined };
    return { id, name, links, values, ...rest, ...unnamed };
  });
  return nodes.map((node) => ({ ...node, isUsed: used.has(node.id) }));
}

function readEditorFile(root: Fields): WorkflowNode[] {
  const subgraphs = new Map<string, Fields>();
  const defined = isRecord(root.definitions) ? root.definitions.subgraphs : undefined;
  for (const one of listRecords(defined)) if (typeof one.id === 'string') subgraphs.set(one.id, one);
  const groups = isRecord(root.extra) && isRecord(root.extra.groupNodes) ? root.extra.groupNodes : {};
  for (const [name, group] of Object.entries(groups))
    if (isRecord(group)) for (const sign of ['>', '/']) subgraphs.set(`workflow${sign}${name}`, group);
  // Each subgraph is read once, however often it is contained, so that those that contain themselves end.
  const found: WorkflowNode[] = [];
  const pending = [{ graph: root, path: '' }];
  const seen = new Set<Fields>();
  for (let next = pending.pop(); next; next = pending.pop()) {
    for (const node of readGraph(next.graph, next.path)) {
      const inner = subgraphs.get(node.name);
      if (!inner) found.push(node);
      else if (!seen.has(inner)) {
        seen.add(inner);
        pending.push({ graph: inner, path: `${toText(inner.name) ?? node.name}/` });
      }
    }
    if (found.length > MAX_NODES) break;
  }
  return found.filter(({ name }) => !EDITOR_NODES.has(name));
}

function listRecords(value: unknown): Fields[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

function toText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function readGraph(graph: Fields, path: string): WorkflowNode[] {
  const raw = listRecords(graph.nodes).filter((node) => toText(node.type) !== undefined);
  // A group node of older editors has no ids.
  const nodes = raw.map((node, at) => ({ ...node, id: String(node.id ?? at) }));
  const byId = new Map(nodes.map((node) => [node.id, node as Fields]));
  const links = new Map<string, Link>();
  const sources = new Map<string, string[]>();
  for (const link of Array.isArray(graph.links) ? graph.links : []) {
    const one = readLink(link);
    if (!one) continue;
    const isOfNode = one.from !== SUBGRAPH_INPUT;
    links.set(one.id, { from: isOfNode ? path + one.from : undefined, slot: one.slot, type: one.type });
    // What only feeds a muted node is not run.
    if (byId.get(one.to)?.mode === MUTED) continue;
    const known = sources.get(one.to);
    if (known) known.push(one.from);
    else sources.set(one.to, [one.from]);
  }
  const inputs = new Map([...links].map(([id, link]) => [id, followReroutes(link, path, byId, links)]));
  const used = new Set([...sources.values()].flat());
  // What has no outputs is there to be run, and so is what a subgraph hands out.
  const isResult = (id: string) => listRecords(byId.get(id)?.outputs).length === 0;
  const run = new Set<string>();
  const pending = [...sources.keys()].filter(isResult);
  for (let id = pending.pop(); id !== undefined; id = pending.pop())
    for (const from of sources.get(id) ?? [])
      if (!run.has(from)) {
        run.add(from);
        pending.push(from);
      }
  return nodes.map((node) =>
    readNode(node, path, inputs, run.has(node.id) || (used.has(node.id) && undefined)),
  );
}

const MAX_REROUTES = 100;

/** A link begins where its reroutes do: what they recorded may be the type of an older version. */
function followReroutes(
  link: Link,
  path: string,
  byId: ReadonlyMap<string, Fields>,
  links: ReadonlyMap<string, Link>,
): Link {
  let found = link;
  for (let left = MAX_REROUTES; left > 0; left -= 1) {
    const node = byId.get(found.from?.slice(path.length) ?? '');
    const before =
      node?.type === 'Reroute' ? links.get(String(listRecords(node.inputs)[0]?.link)) : undefined;
    if (!before) break;
    found = before;
  }
  return found;
}

function readLink(link: unknown) {
  const [id, from, slot, to, , type] = Array.isArray(link)
    ? link
    : isRecord(link)
      ? [link.id, link.origin_id, link.origin_slot, link.target_id, undefined, link.type]
      : [];
  if (id === undefined || from === undefined || from === null) return undefined;
  return { id: String(id), from: String(from), slot: Number(slot), to: String(to), type: toText(type) };
}

function readNode(
  node: Fields & { readonly id: string },
  path: string,
  all: ReadonlyMap<string, Link>,
  isUsed: boolean | undefined,
): WorkflowNode {
  const properties = isRecord(node.properties) ? node.properties : {};
  const inputs = listRecords(node.inputs);
  const links = new Map<string, Link>();
  for (const { name, link } of inputs) {
    const found = link === null || link === undefined ? undefined : all.get(String(link));
    if (typeof name === 'string' && found) links.set(name, found);
  }
  const widgets = inputs.flatMap(({ widget }) => (isRecord(widget) ? [String(widget.name)] : []));
  const values = node.widgets_values;
  const named = isRecord(values) ? new Map(Object.entries(values)) : undefined;
  return {
    id: path + node.id,
    name: String(node.type),
    pack: readPack(properties),
    repository: readRepository(properties),
    isActive: node.mode !== MUTED && node.mode !== BYPASSED,
    isFromPack: ['Node name for S&R', 'cnr_id', 'aux_id'].some((key) => toText(properties[key])),
    sockets: new Set(inputs.flatMap(({ name, widget }) => (isRecord(widget) ? [] : [String(name)]))),
    links,
    isUsed,
    values: named,
    list: Array.isArray(values) ? values : undefined,
    widgets: widgets.length > 0 ? widgets : undefined,
  };
}

function readPack(properties: Fields): RecordedPack | undefined {
  const node_id = toText(properties.cnr_id);
  if (node_id === undefined || node_id.length > MAX_NAME) return undefined;
  const version = completeVersion(toText(properties.ver) ?? '');
  // A commit may have digits only.
  const isNumber = version === properties.ver || String(properties.ver).includes('.');
  return { node_id, version: isNumber && isSemanticVersion(version) ? version : undefined };
}

function readRepository({ aux_id }: Fields): string | undefined {
  const text = toText(aux_id);
  return text !== undefined && text.length <= MAX_NAME && /^[\w.-]+\/[\w.-]+$/.test(text) ? text : undefined;
}
