import { admin } from './admin.js';
import { hostNodes } from './host-nodes.js';
import { image } from './image.js';
import { node } from './node.js';
import type { Operation, Tree } from './operation.js';
import { publisher } from './publisher.js';
import { service } from './service.js';
import { task } from './task.js';
import { user } from './user.js';
import { version } from './version.js';
import { video } from './video.js';
import { webhook } from './webhook.js';

/** Every operation, once. Its place here is its only name: `node.get`, `publisher.token.create`. */
export const contract = {
  publisher,
  node,
  version,
  hostNodes,
  user,
  admin,
  image,
  video,
  task,
  webhook,
  service,
};

export type Contract = typeof contract;

type Names<Branch> = {
  [Key in keyof Branch & string]: Branch[Key] extends Operation
    ? Key
    : Branch[Key] extends Tree
      ? `${Key}.${Names<Branch[Key]>}`
      : never;
}[keyof Branch & string];

/** `'node.get' | 'publisher.token.create' | …` */
export type OperationName = Names<Contract>;

type Leaf<Branch, Name extends string> = Name extends `${infer Head}.${infer Rest}`
  ? Head extends keyof Branch
    ? Leaf<Branch[Head], Rest>
    : never
  : Name extends keyof Branch
    ? Branch[Name]
    : never;

/** The declaration behind a name. */
export type OperationOf<Name extends OperationName> = Leaf<Contract, Name>;
