import { admin } from './admin.js';
import { hostNodes } from './host-nodes.js';
import { image } from './image.js';
import { key } from './key.js';
import { node } from './node.js';
import {
  listOperations,
  type Operation,
  type OperationTree,
  type TaskFacts,
  type TaskKind,
} from './operation.js';
import { publisher } from './publisher.js';
import { registry } from './registry.js';
import { service } from './service.js';
import { task } from './task.js';
import { user } from './user.js';
import { version } from './version.js';
import { video } from './video.js';
import { webhook } from './webhook.js';

/** Every operation. Its path in this tree is its only name: `node.get`, `publisher.token.create`. */
export const contract = {
  publisher,
  node,
  version,
  hostNodes,
  registry,
  user,
  key,
  admin,
  image,
  video,
  task,
  webhook,
  service,
};

export type Contract = typeof contract;

type OperationNames<Branch> = {
  [Key in keyof Branch & string]: Branch[Key] extends Operation
    ? Key
    : Branch[Key] extends OperationTree
      ? `${Key}.${OperationNames<Branch[Key]>}`
      : never;
}[keyof Branch & string];

/** `'node.get' | 'publisher.token.create' | …` */
export type OperationName = OperationNames<Contract>;

type OperationAt<Branch, Name extends string> = Name extends `${infer Head}.${infer Rest}`
  ? Head extends keyof Branch
    ? OperationAt<Branch[Head], Rest>
    : never
  : Name extends keyof Branch
    ? Branch[Name]
    : never;

export type OperationNamed<Name extends OperationName> = OperationAt<Contract, Name>;

type TaskOperationNames<Kind extends TaskKind> = {
  [Name in OperationName]: OperationNamed<Name> extends { readonly task: TaskFacts<Kind> } ? Name : never;
}[OperationName];

/** The operations that start a task: `'image.relight' | 'video.extend' | …` */
export type TaskOperation<Kind extends TaskKind = TaskKind> = Kind extends TaskKind
  ? TaskOperationNames<Kind>
  : never;

const byName: ReadonlyMap<string, Operation> = new Map(listOperations(contract));

/**
 * Gets an operation by its dotted name.
 * @throws Error if there is no operation with that name
 */
export function getOperation(name: string): Operation {
  const found = byName.get(name);
  if (!found) throw new Error(`Unknown operation ${name}.`);
  return found;
}

/**
 * Gets what an operation declares about the task that it starts.
 * @throws Error if the operation does not start a task
 */
export function getTaskFacts(name: string): TaskFacts {
  const { task } = getOperation(name);
  if (!task) throw new Error(`${name} does not start a task.`);
  return task;
}

/** Lists the operations that start a task, of one kind or of any. */
export function listTaskOperations<Kind extends TaskKind>(kind?: Kind): TaskOperation<Kind>[] {
  const found = [...byName].filter(([, { task }]) => task && (kind === undefined || task.kind === kind));
  return found.map(([name]) => name as TaskOperation<Kind>);
}
