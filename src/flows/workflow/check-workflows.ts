import lt from 'semver/functions/lt.js';
import type { LockedNode } from '../install/lock-file.js';
import { checkNode, findBrokenLinks, type NodeProblem, type ReadDefinition } from './check-node.js';
import { HOST_PACK, type HostNodes } from './host-definitions.js';
import type { Workflow, WorkflowNode } from './parse-workflow.js';
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

export interface NeededPack extends PackVersion {
  readonly host_node_names: readonly string[];
  readonly files: readonly string[];
  /** Whether the workflows say so, or it is the pack whose locked or latest version has the names. */
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
  /** The versions that a lock file pins and the registry has, by pack in lower case: those of nodes that record none. */
  readonly locked: ReadonlyMap<string, PackVersion>;
}

/**
 * Lists what has to be read: the names that are not the host's own, the packs that are recorded with them, and those of
 * the lock file that they may be of.
 */
export function listWanted(workflows: readonly Workflow[], host: HostNodes, pinned: readonly LockedNode[]) {
  const nodes = workflows.flatMap((workflow) => workflow.nodes).filter((node) => !isOfHost(node, host));
  const packs = new Map(
    nodes.flatMap(({ pack }) => (pack ? [[`${pack.node_id}@${pack.version ?? ''}`, pack] as const] : [])),
  );
  const recorded = new Set([...packs.values()].map(({ node_id }) => node_id.toLowerCase()));
  const isRecorded = nodes.every(({ pack }) => pack);
  const locked = pinned.flatMap(({ id, version }) =>
    isRecorded && !recorded.has(id.toLowerCase()) ? [] : { node_id: id, version },
  );
  return { names: [...new Set(nodes.map(({ name }) => name))].sort(), packs: [...packs.values()], locked };
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
  const sorted = [...packs.values()].sort((one, other) => (one.node_id < other.node_id ? -1 : 1));
  return { packs: sorted, findings };
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
    const checked = definition ? checkNode({ node, definition, before, find }) : [];
    const problems = finding ? [finding] : checked;
    const broken = findBrokenLinks(node, (id) => assigned.has(id));
    return [...broken, ...problems].map((one) => ({ ...subject, breaks: true, ...one }));
  });
  return mergeByPack(found);
}

/** Takes a node without a pack to be one of the pack to replace, if that alone has its name. */
function replaceOwner(node: WorkflowNode, knowledge: Knowledge, use: Replacements): WorkflowNode {
  if (node.pack || use.size === 0 || isOfHost(node, knowledge.host)) return node;
  const [owner, ...others] = listOwners(node.name, knowledge);
  return owner && others.length === 0 && use.has(owner.node_id.toLowerCase())
    ? { ...node, pack: owner }
    : node;
}

/** The packs that have a name, in the version that is locked. */
function listOwners(name: string, { catalog, locked }: Knowledge): PackVersion[] {
  return catalog.listOwners(name).map((owner) => locked.get(owner.node_id.toLowerCase()) ?? owner);
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

/** The version of each recorded pack: the one to use, else the highest that a node records, else the one that is locked, else the latest. */
function chooseVersions(
  nodes: readonly WorkflowNode[],
  { catalog, host, locked }: Knowledge,
  use: Replacements,
): Map<string, PackVersion> {
  const chosen = new Map<string, PackVersion>();
  for (const [key, version] of use) chosen.set(key, { node_id: key, version });
  const recorded = nodes.flatMap((node) => (node.pack && !isOfHost(node, host) ? [node.pack] : []));
  for (const { node_id, version } of recorded) {
    const key = node_id.toLowerCase();
    const known = chosen.get(key);
    if (version !== undefined && !use.has(key) && (!known || lt(known.version, version)))
      chosen.set(key, { node_id, version });
  }
  for (const { node_id } of recorded) {
    const key = node_id.toLowerCase();
    const version = locked.get(key)?.version ?? catalog.getLatest(node_id);
    if (version !== undefined && !chosen.has(key)) chosen.set(key, { node_id, version });
  }
  return chosen;
}

function assign(
  node: WorkflowNode,
  knowledge: Knowledge,
  chosen: ReadonlyMap<string, PackVersion>,
): Assignment {
  const { catalog, host, locked } = knowledge;
  const { name, pack } = node;
  if (isOfHost(node, host)) {
    if (host.names.has(name)) return { definition: host.definitions?.get(name) };
    return note('node unknown', `recorded as a node of the host, and ${host.about} has no such node`);
  }
  if (!pack) return assignByName(node, knowledge, chosen);
  const own = chosen.get(pack.node_id.toLowerCase());
  const definitions = own && catalog.getVersion(own);
  const subject = own ? formatVersion(own) : pack.node_id;
  if (!definitions)
    return {
      finding: { problem: 'version missing', detail: `the registry has no ${subject}`, breaks: true },
    };
  const savedVersion = pack.version ?? locked.get(own.node_id.toLowerCase())?.version;
  const saved = savedVersion === undefined ? undefined : { ...own, version: savedVersion };
  const before = saved && saved.version !== own.version ? catalog.getVersion(saved)?.get(name) : undefined;
  const definition = definitions.get(name);
  if (definition) return { pack: own, definition, before };
  if (definitions.size === 0)
    return note('not checked', `the registry has no definitions of ${subject}`, own);
  const isOther = ({ node_id }: PackVersion) => node_id.toLowerCase() !== own.node_id.toLowerCase();
  const others = catalog.listOwners(name).filter(isOther).slice(0, 3).map(formatVersion).join(', ');
  return missing(node, `${subject} has no such node${others && `; ${others} has it`}`, own);
}

function assignByName(
  node: WorkflowNode,
  knowledge: Knowledge,
  chosen: ReadonlyMap<string, PackVersion>,
): Assignment {
  const { catalog, host, locked } = knowledge;
  const { name, repository } = node;
  const get = (pack: PackVersion) => ({ pack, definition: catalog.getVersion(pack)?.get(name) });
  // A pack that the workflow needs anyway.
  const own = [...chosen.values()].map(get).find(({ definition }) => definition);
  if (own) return own;
  const owners = listOwners(name, knowledge);
  // Ids of packs are mostly the names of their repositories.
  const id = repository?.split('/').at(-1)?.toLowerCase();
  const owner = owners.length > 1 ? owners.find(({ node_id }) => node_id.toLowerCase() === id) : owners[0];
  // Only one version of a pack can be installed, and the one that the workflow needs anyway, or that is locked, may not have it.
  const installed = new Map([...locked, ...chosen]);
  if (owner && installed.has(owner.node_id.toLowerCase()))
    return assign({ ...node, pack: owner }, knowledge, installed);
  if (owner) return get(owner);
  if (owners.length > 0) return note('several packs', owners.map(formatVersion).join(', '));
  const definition = host.definitions?.get(name);
  const unloaded = host.definitions ? ', and the host has not loaded it' : '';
  const source = repository === undefined ? '' : `; the file says that it is from github.com/${repository}`;
  return definition ? { definition } : missing(node, `no pack of the registry has it${unloaded}${source}`);
}

function formatVersion({ node_id, version }: PackVersion): string {
  return `${node_id} ${version}`;
}

/** What is not known breaks nothing. */
function note(problem: WorkflowFinding['problem'], detail: string, pack?: PackVersion): Assignment {
  return { pack, finding: { problem, detail, breaks: false } };
}

/** A node that only the editor has, made by the script of a pack, has no definition anywhere. */
function missing({ isFromPack }: WorkflowNode, detail: string, pack?: PackVersion): Assignment {
  if (isFromPack) return { pack, finding: { problem: 'node missing', detail, breaks: true } };
  const known = `${detail}, and nothing in the file says that it is more than a node of the editor`;
  return note('node unknown', known, pack);
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

/** Workflows may record several versions of a pack, and one can be installed: the highest, for the names of all. */
export function chooseHighest(packs: readonly NeededPack[]): NeededPack[] {
  const chosen = new Map<string, NeededPack>();
  for (const pack of packs) {
    const known = chosen.get(pack.node_id.toLowerCase());
    const host_node_names = [...new Set([...(known?.host_node_names ?? []), ...pack.host_node_names])];
    const higher = known && lt(pack.version, known.version) ? known : pack;
    chosen.set(pack.node_id.toLowerCase(), { ...higher, host_node_names });
  }
  return [...chosen.values()];
}
