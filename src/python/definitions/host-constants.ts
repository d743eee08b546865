import type { Value } from './values.js';

/** Members of the host's `IO` whose text is not their name. Source: `comfy/comfy_types/node_typing.py` of ComfyUI. */
const SPECIAL_TYPES: Record<string, string> = {
  ANY: '*',
  NUMBER: 'FLOAT,INT',
  PRIMITIVE: 'STRING,FLOAT,INT,BOOLEAN',
};

/** Values of other packages that every host agrees on, by their full name. */
export function findHostConstant(name: string): Value | undefined {
  if (name === 'sys.maxsize') return 9223372036854775807n;
  const type = /(?:^|\.)comfy_types\.(?:node_typing\.)?IO\.([A-Z][A-Z_]*)$/.exec(name)?.[1];
  return type === undefined ? undefined : Object.hasOwn(SPECIAL_TYPES, type) ? SPECIAL_TYPES[type] : type;
}
