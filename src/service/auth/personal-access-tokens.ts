import { Refused } from '../operation/refused.js';

/** Whether a token that is limited to these nodes, or to none, covers a node; ids are compared without case. */
export function coversNode(nodes: readonly string[] | undefined, nodeId: string | undefined): boolean {
  if (nodes === undefined) return true;
  return nodeId !== undefined && nodes.some((node) => node.toLowerCase() === nodeId.toLowerCase());
}

/** @throws Refused node_not_allowed if a token is limited to other nodes */
export function refuseOtherNodes(nodes: readonly string[] | undefined, nodeId: string | undefined): void {
  if (coversNode(nodes, nodeId)) return;
  const known = nodes?.slice(0, 3).join(', ');
  const more = (nodes?.length ?? 0) > 3 ? ' and others' : '';
  throw new Refused(
    'node_not_allowed',
    `The personal access token may only be used for ${known}${more}; create one for this.`,
  );
}
