import type { Errand } from './errand.js';

/** What is put into a request for the vendor's sake, over what the caller wrote there. */
export async function additionsFor(errand: Errand): Promise<Record<string, unknown>> {
  const { kind, job, vendor, settings, callbacks } = errand;
  const callback = callbacks.addressFor(job.id, vendor.baseUrl);
  if (kind === 'image') return { ...(callback && { webhook_url: callback }) };
  const model = settings.models?.[job.request.model as string];
  return {
    ...(callback && { callback_url: callback }),
    ...(model && { model }),
    // The seed that was answered here; an extension has none.
    ...(job.operation === 'video.extend' ? await extended(errand) : { seed: job.seed }),
  };
}

// Decided: a video that this vendor made for this service is extended under the vendor's own names for it.
async function extended({ job, keptOf }: Errand): Promise<Record<string, unknown>> {
  // A creation's id here: its task, and its place among the results.
  const [, taskId, place] = /^([\da-f-]{36})-(\d+)$/.exec(String(job.request.video_creation_id)) ?? [];
  if (taskId === undefined) return {};
  const { videos } = await keptOf(taskId, job);
  const video = videos?.find(({ at }) => at === Number(place));
  return { ...(video?.id && { video_creation_id: video.id }), ...(video && { video_url: video.url }) };
}
