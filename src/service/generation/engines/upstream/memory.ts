import { z } from 'zod';
import type { EngineMemory } from '../../engine.js';

const Kept = z.object({
  /** What was put into the request for the vendor's sake: a repeated one must be the same to the letter. */
  added: z.record(z.string(), z.unknown()).optional(),
  /** The vendor was asked to start the task, and may have begun; with what was known of its honouring keys. */
  asked: z.object({ keyHonoured: z.boolean() }).optional(),
  /** The vendor's id of the task. */
  taskId: z.string().optional(),
  /** What the vendor calls the videos it made, by their place among the results. */
  videos: z.array(z.object({ at: z.int(), id: z.string().optional(), url: z.string() })).optional(),
});

/** What is kept of a task at a vendor. */
export type Kept = z.output<typeof Kept>;

/** @param text as the memory of a task holds it */
export function keptIn(text: string | undefined): Kept {
  if (text === undefined) return {};
  return Kept.safeParse(parsed(text)).data ?? {};
}

export async function keep(memory: EngineMemory, kept: Kept): Promise<void> {
  await memory.write(JSON.stringify(kept));
}

/** Another engine may have written what is there. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
