import { TASK_PREDICATE } from '../../contract/statement.js';
import { signStatement } from '../auth/statements.js';
import type { Handlers, Read } from '../operation/call.js';
import { Refused } from '../operation/refused.js';
import { parseResults } from './results.js';
import { getVisibleTask } from './task-access.js';
import { viewAccount } from './task-views.js';

// Decided: of a receipt, which its user wrote, the service vouches for nothing but that it was the one with this digest.
const getStatement: Read<'task.statement'> = async (call, database) => {
  const task = await getVisibleTask(call, database);
  const results = parseResults(task.results);
  if (results.length === 0) throw new Refused('not_found', `The task ${task.id} has no results.`);
  const { receipt } = call.query;
  const { operation, credits, seed, created_at } = await viewAccount(database, task);
  const subjects = results.map(({ name, sha256 }) => ({ name, digest: { sha256 } }));
  return signStatement(call.context, {
    subject: [...subjects, ...(receipt ? [{ name: RECEIPT, digest: { sha256: receipt } }] : [])],
    predicateType: TASK_PREDICATE,
    predicate: { service: call.context.baseUrl(), task_id: task.id, operation, credits, seed, created_at },
  });
};

const RECEIPT = 'receipt';

export const taskStatementHandlers = {
  'task.statement': { read: getStatement },
} satisfies Partial<Handlers>;
