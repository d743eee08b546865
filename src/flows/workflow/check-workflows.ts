import lt from 'semver/functions/lt.js';
import { checkNode, type NodeProblem, type ReadDefinition } from './check-node.js';
import { HOST_PACK, type HostNodes } from './host-definitions.js';
import type { RecordedPack, Workflow, WorkflowNode } from './parse-workflow.js';
import type { DefinitionCatalog, PackVersion } from './read-definitions.js';

/** What is wrong with, or not known of, a node of a workflow. */
export interface WorkflowFinding {
  readonly file: string;
  /** The id of the node in the file; empty for what is about a whole pack. */
  readonly node: string;
  readonly host_node_name: string;
  readonly pack?: PackVersion | undefined;
  readonly problem:
    | NodeProblem['problem']
    | 'node missing'
    | 'node unknown'
    | 'several packs'
    | 'version missing'
    | 'not checked';
  readonly detail: string;
  /** Whether the workflow does not load or run because of it. */
  readonly breaks: boolean;
}

/** A pack that workflows need. */
export interface NeededPack extends PackVersion {
  readonly host_node_names: readonly string[];
  readonly files: readonly string[];
  /** Whether the workflows say so, or it is the pack whose latest version has the names. */
  readonly recorded: boolean;
}

/** What each node of some workflows is taken to be. */
export interface WorkflowCheck {
  readonly packs: readonly NeededPack[];
  readonly findings: readonly WorkflowFinding[];
}

/** What is known beyond the workflows. */
export interface Knowledge {
  readonly catalog: DefinitionCatalog;
  readonly host: HostNodes;
}

/** Lists what has to be read: the names that are not the host's own, and the packs that are recorded with them. */
export function listWanted(workflows: readonly Workflow[], host: HostNodes) {
  const nodes = workflows.flatMap((workflow) => workflow.nodes).filter((node) => !isOfHost(node, host));
  const packs = new Map(
    nodes.flatMap(({ pack }) => (pack ? [[`${pack.node_id}@${pack.version ?? ''}`, pack] as const] : [])),
  );
  return { names: [...new Set(nodes.map(({ name }) => name))].sort(), packs: [...packs.values()] };
}

/** The host's own, unless the workflow records a pack that replaces it. */
function isOfHost({ name, pack }: WorkflowNode, host: HostNodes): boolean {
  return pack ? pack.node_id === HOST_PACK : host.names.has(name);
}

/** Versions to use instead of those that are recorded, by pack in lower case. */
export type Replacements = ReadonlyMap<string, string>;

/** Checks workflows against the definitions that were read. @param use versions instead of those that are recorded */
export function checkWorkflows(
  workflows: readonly Workflow[],
  knowledge: Knowledge,
  use: Replacements = new Map(),
): WorkflowCheck {
  const packs = new Map<string, NeededPack>();
  const findings = workflows.flatMap((workflow) => checkOne(workflow, knowledge, use, packs));
  return { packs: [...packs.values()].sort(compareIds), findings };
}

function compareIds(one: PackVersion, other: PackVersion): number {
  return one.node_id < other.node_id ? -1 : one.node_id > other.node_id ? 1 : 0;
}

/** A node, and what it is checked against. */
interface Assignment {
  readonly pack?: PackVersion | undefined;
  readonly definition?: ReadDefinition | undefined;
  readonly before?: ReadDefinition | undefined;
  readonly finding?: Pick<WorkflowFinding, 'problem' | 'detail' | 'breaks'>;
}

function checkOne(
  workflow: Workflow,
  knowledge: Knowledge,
  use: Replacements,
  packs: Map<string, NeededPack>,
): WorkflowFinding[] {
  const { file, nodes } = workflow;
  const chosen = chooseVersions(nodes, knowledge, use);
  const assigned = new Map<string, Assignment>();
  for (const node of nodes) {
    const assignment = assign(replaceOwner(node, knowledge, use), knowledge, chosen);
    assigned.set(node.id, assignment);
    if (assignment.pack) addPack(packs, assignment.pack, { file, node });
  }
  const find = (id: string) => assigned.get(id)?.definition;
  const found = nodes.flatMap((node): WorkflowFinding[] => {
    const { pack, definition, before, finding } = assigned.get(node.id) as Assignment;
    const subject = { file, node: node.id, host_node_name: node.name, pack };
    if (finding) return [{ ...subject, ...finding }];
    if (!definition) return [];
    return checkNode({ node, definition, before, find }).map((one) => ({ ...subject, ...one, breaks: true }));
  });
  return mergeByPack(found);
}

/** Takes a node without a pack to be one of the pack to replace, if that alone has its name. */
function replaceOwner(node: WorkflowNode, { catalog, host }: Knowledge, use: Replacements): WorkflowNode {
  if (node.pack || use.size === 0 || isOfHost(node, host)) return node;
  const [owner, ...others] = catalog.listOwners(node.name);
  return owner && others.length === 0 && use.has(owner.node_id.toLowerCase())
    ? { ...node, pack: owner }
    : node;
}

/** What holds for all nodes of a pack is one finding. */
function mergeByPack(findings: readonly WorkflowFinding[]): WorkflowFinding[] {
  const seen = new Set<string>();
  return findings.flatMap((finding) => {
    const { problem, detail } = finding;
    if (problem !== 'version missing' && problem !== 'not checked') return [finding];
    if (seen.has(detail)) return [];
    seen.add(detail);
    return [{ ...finding, node: '', host_node_name: '' }];
  });
}

/** The version of each recorded pack: the one to use, else the highest that a node records, else the latest. */
function chooseVersions(
  nodes: readonly WorkflowNode[],
  { catalog, host }: Knowledge,
  use: Replacements,
): Map<string, PackVersion> {
  const chosen = new Map<string, PackVersion>(
    [...use].map(([key, version]) => [key, { node_id: key, version }] as const),
  );
  for (const node of nodes) {
    if (!node.pack || isOfHost(node, host)) continue;
    const { node_id, version } = node.pack;
    const key = node_id.toLowerCase();
    const known = chosen.get(key)?.version;
    const own = use.get(key) ?? version;
    if (own !== undefined && (known === undefined || lt(known, own)))
      chosen.set(key, { node_id, version: own });
  }
  for (const { pack } of nodes) {
    const latest = pack && catalog.getLatest(pack.node_id);
    if (latest !== undefined && !chosen.has(pack?.node_id.toLowerCase() as string))
      chosen.set((pack as RecordedPack).node_id.toLowerCase(), {
        ...(pack as RecordedPack),
        version: latest,
      });
  }
  return chosen;
}

function assign(
  node: WorkflowNode,
  knowledge: Knowledge,
  chosen: ReadonlyMap<string, PackVersion>,
): Assignment {
  const { catalog, host } = knowledge;
  const { name, pack } = node;
  if (isOfHost(node, host)) return assignHost(name, host);
  if (!pack) return assignByName(node, knowledge, chosen);
  const own = chosen.get(pack.node_id.toLowerCase());
  const definitions = own && catalog.getVersion(own);
  if (!own || !definitions) {
    const what = own ? `${own.node_id} ${own.version}` : pack.node_id;
    const detail = `the registry has no ${what}`;
    return { finding: { problem: 'version missing', detail, breaks: true } };
  }
  const definition = definitions.get(name);
  const saved = pack.version === undefined ? undefined : { ...own, version: pack.version };
  const before = saved && saved.version !== own.version ? catalog.getVersion(saved)?.get(name) : undefined;
  if (definition) return { pack: own, definition, before };
  const subject = `${own.node_id} ${own.version}`;
  if (definitions.size === 0) {
    const detail = `the registry has no definitions of ${subject}`;
    return { pack: own, finding: { problem: 'not checked', detail, breaks: false } };
  }
  const others = catalog.listOwners(name).map(({ node_id, version }) => `${node_id} ${version}`);
  const elsewhere = others.length > 0 ? `; ${others.slice(0, 3).join(', ')} has it` : '';
  return missing(node, `${subject} has no such node${elsewhere}`, own);
}

function assignHost(name: string, { names, definitions, about }: HostNodes): Assignment {
  if (names.has(name)) return { definition: definitions?.get(name) };
  const detail = `recorded as a node of the host, and ${about} has no such node`;
  return { finding: { problem: 'node unknown', detail, breaks: false } };
}

function assignByName(
  node: WorkflowNode,
  { catalog, host }: Knowledge,
  chosen: ReadonlyMap<string, PackVersion>,
): Assignment {
  const { name } = node;
  // A pack that the workflow needs anyway.
  for (const own of chosen.values()) {
    const definition = catalog.getVersion(own)?.get(name);
    if (definition) return { pack: own, definition };
  }
  const owners = catalog.listOwners(name);
  const [first, ...others] = owners;
  if (!first) {
    const definition = host.definitions?.get(name);
    return definition ? { definition } : missing(node, 'no pack of the registry has it');
  }
  if (others.length > 0) {
    const detail = owners.map(({ node_id, version }) => `${node_id} ${version}`).join(', ');
    return { finding: { problem: 'several packs', detail, breaks: false } };
  }
  return { pack: first, definition: catalog.getVersion(first)?.get(name) };
}

/** A node that only the editor has, made by the script of a pack, has no definition anywhere. */
function missing({ isFromPack }: WorkflowNode, detail: string, pack?: PackVersion): Assignment {
  if (isFromPack) return { pack, finding: { problem: 'node missing', detail, breaks: true } };
  const known = `${detail}, and nothing in the file says that it is more than a node of the editor`;
  return { pack, finding: { problem: 'node unknown', detail: known, breaks: false } };
}

function addPack(
  packs: Map<string, NeededPack>,
  { node_id, version }: PackVersion,
  { file, node }: { readonly file: string; readonly node: WorkflowNode },
): void {
  const key = `${node_id.toLowerCase()}@${version}`;
  const known = packs.get(key) ?? { node_id, version, host_node_names: [], files: [], recorded: false };
  const add = (list: readonly string[], one: string) => (list.includes(one) ? list : [...list, one]);
  packs.set(key, {
    ...known,
    host_node_names: add(known.host_node_names, node.name),
    files: add(known.files, file),
    recorded: known.recorded || node.pack !== undefined,
  });
}
