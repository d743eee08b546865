import { readdirSync } from 'node:fs';
import { basename } from 'node:path';
import { listTaskOperations, type TaskOperation } from '../../contract/index.js';
import type { Configuration } from '../configuration/configuration.js';
import type { EngineSettings } from '../configuration/generation-settings.js';

type Generation = Pick<Configuration, 'generation'>;

/** Says what makes images and videos, and the results of operations that have an engine of their own. */
export async function describeEngines({ generation }: Generation): Promise<Readonly<Record<string, string>>> {
  const { operation, record, replay } = generation;
  if (replay !== undefined) {
    const count = readdirSync(replay).filter((name) => name.endsWith('.json')).length;
    return { 'images and videos': `recordings in ${replay} (${count})` };
  }
  const describeKind = (kind: 'image' | 'video') =>
    describeEngine(
      generation[kind],
      listTaskOperations(kind).filter((name) => !operation[name]),
    );
  const [images, videos] = [await describeKind('image'), await describeKind('video')];
  const own: Record<string, string> = {};
  for (const [name, settings] of Object.entries(operation))
    own[name] = await describeEngine(settings, [name as TaskOperation]);
  return {
    ...(images === videos ? { 'images and videos': images } : { images, videos }),
    ...own,
    ...(record !== undefined && { results: `recorded in ${record}` }),
  };
}

async function describeEngine(
  settings: EngineSettings,
  operations: readonly TaskOperation[],
): Promise<string> {
  if (settings.engine === 'local') return 'previews made on this machine';
  if (settings.engine === 'comfyui') {
    const { loadWorkflows } = await import('../configuration/workflows.js');
    const { size } = loadWorkflows(settings.workflows, operations).workflows;
    return `ComfyUI at ${settings.baseUrl} (${size} ${size === 1 ? 'workflow' : 'workflows'})`;
  }
  const { loadVendorProfile } = await import('../configuration/vendor-profile.js');
  const loaded = loadVendorProfile(settings.vendor);
  const address = settings.baseUrl ?? ('profile' in loaded ? loaded.profile.baseUrl : undefined);
  return `${basename(settings.vendor, '.json')} at ${address}`;
}

/** Lists what is only previewed on this machine: kinds of tasks, or operations where a kind has several engines. */
export function listPreviews({ generation }: Generation): string[] {
  if (generation.replay !== undefined) return [];
  return (['image', 'video'] as const).flatMap((kind): string[] => {
    const all = listTaskOperations(kind);
    const previews = all.filter(
      (name) => (generation.operation[name] ?? generation[kind]).engine === 'local',
    );
    return previews.length === all.length ? [kind] : previews;
  });
}
