import { getTaskFacts, listTaskOperations, type TaskOperation } from '../../contract/index.js';
import type { Configuration } from '../configuration/configuration.js';
import type { EngineSettings } from '../configuration/generation-settings.js';
import type { Engine, Engines } from '../operation/engine.js';
import { createImagePreviewEngine, createVideoPreviewEngine } from './preview.js';
import type { EngineOptions } from './upstream/create-vendor-engine.js';

/** Creates the configured engines. Only what they need is loaded. */
export async function createEngines(
  generation: Configuration['generation'],
  given: EngineOptions,
): Promise<Engines> {
  const { operation, record, replay } = generation;
  const parts = { ...given, isSilent: replay !== undefined };
  const create = async (settings: EngineSettings, operations: readonly TaskOperation[]) => {
    const engine = await createEngine(settings, operations, parts);
    // A preview would be replayed as if a vendor had made it.
    if (replay === undefined && (record === undefined || settings.engine === 'local')) return engine;
    const { createRecordingEngine, createReplayEngine } = await import('./cassette.js');
    if (replay !== undefined) return createReplayEngine(engine, replay);
    return createRecordingEngine(engine, record as string, given.log);
  };
  const own = Object.entries(operation).map(
    async ([name, settings]) => [name, await create(settings, [name as TaskOperation])] as const,
  );
  return {
    image: await create(generation.image, listTaskOperations('image')),
    video: await create(generation.video, listTaskOperations('video')),
    operations: Object.fromEntries(await Promise.all(own)),
  };
}

/** @param operations of one kind */
async function createEngine(
  settings: EngineSettings,
  operations: readonly TaskOperation[],
  parts: EngineOptions,
): Promise<Engine> {
  if (settings.engine === 'upstream') {
    const { createVendorEngine } = await import('./upstream/create-vendor-engine.js');
    return createVendorEngine(settings, parts);
  }
  if (settings.engine === 'comfyui') {
    const { loadWorkflows } = await import('../configuration/workflows.js');
    const { createComfyUiEngine } = await import('./comfyui/engine.js');
    return createComfyUiEngine({ ...parts, settings, ...loadWorkflows(settings.workflows, operations) });
  }
  if (getTaskFacts(operations[0] as TaskOperation).kind === 'image') return createImagePreviewEngine();
  return createVideoPreviewEngine('atOnce' in settings ? settings.atOnce : undefined);
}
