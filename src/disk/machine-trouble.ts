import { UnfitFileError } from './folder-file.js';

/** Errors of the system that pass by themselves, or once the operator makes room. */
const RESOURCE_CODES =
  /^(?:E(?:MFILE|NFILE|NOMEM|NOSPC|DQUOT|FBIG|AGAIN|BUSY|IO|ROFS|NOBUFS|STALE)|EAI_MEMORY|SQLITE_(?:BUSY|FULL|NOMEM|CANTOPEN|IOERR).*|ERR_WORKER_OUT_OF_MEMORY|ERR_MEMORY_ALLOCATION_FAILED)$/;
/** The same in the words of libraries, which give no code. sharp reports its timeout, of wall time, as `timeout: 40% complete`. */
const RESOURCE_WORDS =
  /out of memory|insufficient memory|cannot allocate memory|allocation failed|no space left|too many open files|resource temporarily unavailable|^timeout: \d+% complete/i;

/** A signal from outside asked a process to stop. */
const ENDED_NAMES: ReadonlySet<string> = new Set(['AbortError', 'ChildInterrupted']);

/**
 * Whether an error is about this machine, not the input: memory, disk or file handles run out, it is too slow or stopping.
 * Such an error is thrown on, so that the work is tried again, and never becomes a verdict.
 */
export function isMachineTrouble(error: unknown): boolean {
  // It has codes of the system, for a file that is not what was asked for.
  if (!(error instanceof Error) || error instanceof UnfitFileError) return false;
  const { code, name, message, cause } = error as NodeJS.ErrnoException;
  if (ENDED_NAMES.has(name) || RESOURCE_CODES.test(String(code)) || RESOURCE_WORDS.test(message)) return true;
  return isMachineTrouble(cause);
}

/** For `catch` where every other error is a verdict. */
export function throwMachineTrouble(error: unknown): undefined {
  if (isMachineTrouble(error)) throw error;
}
