import { existsSync, readdirSync } from 'node:fs';
import { basename } from 'node:path';
import { listTaskOperations, type TaskOperation } from '../../contract/index.js';
import type { Configuration } from '../configuration/configuration.js';
import type { ComfyUiSettings, EngineSettings } from '../configuration/generation-settings.js';

type Generation = Pick<Configuration, 'generation'>;

/**
 * Says what makes images and videos, and the results of operations that have an engine of their own.
 * @param looks whether ComfyUI is asked if it is there
 */
export async function describeEngines(
  { generation }: Generation,
  looks = false,
): Promise<Readonly<Record<string, string>>> {
  const { operation, record, replay } = generation;
  if (replay !== undefined) return { 'images and videos': `recordings in ${countRecordings(replay)}` };
  const describeKind = (kind: 'image' | 'video') =>
    describeEngine(
      generation[kind],
      listTaskOperations(kind).filter((name) => !operation[name]),
      looks,
    );
  const [images, videos] = [await describeKind('image'), await describeKind('video')];
  const own: Record<string, string> = {};
  for (const [name, settings] of Object.entries(operation))
    own[name] = await describeEngine(settings, [name as TaskOperation], looks);
  return {
    ...(images === videos ? { 'images and videos': images } : { images, videos }),
    ...own,
    ...(record !== undefined && { results: `recorded in ${countRecordings(record)}` }),
  };
}

/** Such as `cassettes (3)`. */
function countRecordings(folder: string): string {
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return `${folder} (${names.filter((name) => name.endsWith('.json')).length})`;
}

async function describeEngine(
  settings: EngineSettings,
  operations: readonly TaskOperation[],
  looks: boolean,
): Promise<string> {
  if (settings.engine === 'local') return 'previews made on this machine';
  if (settings.engine === 'comfyui') {
    const { loadWorkflows } = await import('../configuration/workflows.js');
    const { size } = loadWorkflows(settings.workflows, operations).workflows;
    const silence = looks ? await findSilence(settings) : undefined;
    const now = silence === undefined ? '' : `; ${silence} now`;
    return `ComfyUI at ${settings.baseUrl} (${size} ${size === 1 ? 'workflow' : 'workflows'})${now}`;
  }
  const { loadVendorProfile } = await import('../configuration/vendor-profile.js');
  const loaded = loadVendorProfile(settings.vendor);
  const address = settings.baseUrl ?? ('profile' in loaded ? loaded.profile.baseUrl : undefined);
  return `${basename(settings.vendor, '.json')} at ${address}`;
}

const LOOK_MS = 2_000;

/** @returns why ComfyUI cannot be used; undefined if it answers */
async function findSilence({ baseUrl }: ComfyUiSettings): Promise<string | undefined> {
  const { ComfyUiHost } = await import('./comfyui/host.js');
  try {
    await new ComfyUiHost({ baseUrl, answerMs: LOOK_MS }).read('/system_stats', new AbortController().signal);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
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
