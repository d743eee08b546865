import { z } from 'zod';
import { parseJson } from '../../../contract/json.js';
import type { EngineMemory } from '../../operation/engine.js';

const UpstreamState = z.object({
  /** The fields added to the request: a repeated request must be identical. */
  added: z.record(z.string(), z.unknown()).optional(),
  /** The vendor was asked and may have started the task: whether it was known to honour keys, and when. */
  asked: z.object({ keyHonoured: z.boolean(), at: z.number().optional() }).optional(),
  refusedKeys: z.int().optional(),
  taskId: z.string().optional(),
  /** Where it is cancelled, if not at the same path as all. */
  cancel: z.string().optional(),
  /** When the vendor started it. Milliseconds since the epoch. */
  startedAt: z.number().optional(),
  /** Since when the vendor does not answer as expected. Milliseconds since the epoch. */
  failingSince: z.number().optional(),
  /** How often it has not, since then. */
  failures: z.int().optional(),
  /** The vendor's names of the videos it made, by their index in the results. */
  videos: z.array(z.object({ at: z.int(), id: z.string().optional(), url: z.string() })).optional(),
});

/** What is stored about a task at a vendor. */
export type UpstreamState = z.output<typeof UpstreamState>;

/** @param text the memory of a task */
export function parseState(text: string | undefined): UpstreamState {
  if (text === undefined) return {};
  return UpstreamState.safeParse(parseJson(text)).data ?? {};
}

/** @param vendorCredits what the vendor says that it charges, if it does */
export async function saveState(
  memory: EngineMemory,
  state: UpstreamState,
  vendorCredits?: number,
): Promise<void> {
  const isAsked = state.asked !== undefined || state.taskId !== undefined;
  await memory.write(JSON.stringify(state), isAsked, vendorCredits);
}
