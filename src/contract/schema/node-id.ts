// Decided: node ids are 1 to 100 letters, digits, dots, underscores and hyphens, with a letter or digit at
// both ends.
export const MAX_NODE_ID = 100;
export const NODE_ID = /^[a-zA-Z0-9](?:[a-zA-Z0-9._-]*[a-zA-Z0-9])?$/;

/** Splits `node@version` or `node@range` at the first @, which no id has. Without one, it is all the node. */
export function splitNodeVersion(text: string): readonly [node: string, version?: string] {
  const at = text.indexOf('@');
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}

export function isNodeId(text: string): boolean {
  return text.length <= MAX_NODE_ID && NODE_ID.test(text);
}
