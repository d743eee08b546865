import { isRecord } from '../../../contract/json.js';
import { type ComfyUiHost, NotComfyUi } from './host.js';

type HistoryEntry = Readonly<Record<string, unknown>>;

/** Where a prompt is: its entry in the history once it has ended. Stalled: it waits, and nothing runs. */
export type PromptPlace = HistoryEntry | 'running' | 'pending' | 'stalled' | 'nowhere';

/** Looks for a prompt. @throws NoAnswer; the signal's reason */
export async function findPrompt(host: ComfyUiHost, id: string, signal: AbortSignal): Promise<PromptPlace> {
  const ended = await readEntry(host, id, signal);
  if (ended) return ended;
  const { running, pending } = await readQueue(host, signal);
  if (running.includes(id)) return 'running';
  if (pending.includes(id)) return running.length === 0 ? 'stalled' : 'pending';
  // It may have ended between the two.
  return (await readEntry(host, id, signal)) ?? 'nowhere';
}

/** It is empty as long as a prompt waits or runs, and for one that is unknown. */
async function readEntry(
  host: ComfyUiHost,
  id: string,
  signal: AbortSignal,
): Promise<HistoryEntry | undefined> {
  const all = await host.read(`/history/${id}`, signal);
  const entry = isRecord(all) ? all[id] : undefined;
  return isRecord(entry) ? entry : undefined;
}

async function readQueue(host: ComfyUiHost, signal: AbortSignal) {
  const queue = await host.read('/queue', signal);
  const { queue_running: running, queue_pending: pending } = isRecord(queue) ? queue : {};
  if (!Array.isArray(running) || !Array.isArray(pending))
    throw new NotComfyUi('its queue is not that of ComfyUI');
  const readIds = (items: readonly unknown[]) =>
    items.map((item) => (Array.isArray(item) ? item[1] : undefined));
  return { running: readIds(running), pending: readIds(pending) };
}

/**
 * Takes a prompt out of the queue, or interrupts it if it runs.
 * @returns whether it had not begun
 * @throws NoAnswer; the signal's reason
 */
export async function cancelPrompt(host: ComfyUiHost, id: string, signal: AbortSignal): Promise<boolean> {
  const place = await findPrompt(host, id, signal);
  if (place === 'pending' || place === 'stalled') {
    await host.post('/queue', { delete: [id] }, signal);
    if ((await findPrompt(host, id, signal)) === 'nowhere') return true;
  }
  // Of another prompt, or without its id, this would stop the work of others.
  if ((await findPrompt(host, id, signal)) === 'running')
    await host.post('/interrupt', { prompt_id: id }, signal);
  return false;
}
