// Decided: node ids are 1 to 100 letters, digits, dots, underscores and hyphens, with a letter or digit at
// both ends.
export const MAX_NODE_ID = 100;
export const NODE_ID = /^[a-zA-Z0-9](?:[a-zA-Z0-9._-]*[a-zA-Z0-9])?$/;

export function isNodeId(text: string): boolean {
  return text.length <= MAX_NODE_ID && NODE_ID.test(text);
}
