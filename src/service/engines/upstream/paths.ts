import type { TaskOperation } from '../../../contract/index.js';
import { getOperation, getTaskFacts } from '../../../contract/index.js';
import type { Operation } from '../../../contract/operation.js';

/** The path that starts a task, below the vendor's base URL. */
export function getStartPath(operation: TaskOperation): string {
  return stripVendorPrefix(getOperation(operation));
}

/** The path that reads a vendor's task, below its base URL. */
export function getReadPath(operation: TaskOperation, vendorTaskId: string): string {
  return stripVendorPrefix(getOperation(getTaskFacts(operation).read)).replace(
    '{task_id}',
    encodeURIComponent(vendorTaskId),
  );
}

/** The contract's path without the part that the base URL replaces. */
function stripVendorPrefix({ path }: Operation): string {
  return path.replace(/^\/proxy\/\w+/, '');
}
