import { contract } from '../../../../contract/index.js';
import { type Operation, operations } from '../../../../contract/operation.js';
import type { TaskOperation } from '../../engine.js';

const all = new Map<string, Operation>(operations(contract));

/** Where a task is started, below the vendor's base address. */
export function startPath(operation: TaskOperation): string {
  return belowBase(all.get(operation) as Operation);
}

/** Where the status of the vendor's task is read, below its base address. */
export function readPath(operation: TaskOperation, vendorsId: string): string {
  const read = all.get(all.get(operation)?.task?.read ?? '') as Operation;
  return belowBase(read).replace('{task_id}', encodeURIComponent(vendorsId));
}

/** The contract's path, without the part that the base address stands for. */
function belowBase({ path }: Operation): string {
  return path.replace(/^\/proxy\/\w+/, '');
}
