import { getTaskFacts, listTaskOperations, type TaskOperation } from '../../contract/index.js';
import type { Configuration } from '../configuration/configuration.js';
import type { EngineSettings, VendorSettings } from '../configuration/generation-settings.js';
import { readSecret } from '../configuration/secret-source.js';
import { loadVendorProfile } from '../configuration/vendor-profile.js';
import { loadWorkflows } from '../configuration/workflows.js';
import { type Database, findRow, getRow } from '../database/database.js';
import type { Context } from '../operation/context.js';
import type { Engine, EngineJob, Engines, ImageOperation, VideoOperation } from '../operation/engine.js';
import { createRecordingEngine, createReplayEngine } from './cassette.js';
import { createComfyUiEngine } from './comfyui/engine.js';
import { createImagePreviewEngine, createVideoPreviewEngine } from './preview.js';
import type { VendorCallbacks } from './upstream/callbacks.js';
import { createUpstreamEngine } from './upstream/engine.js';
import type { ResultLimits, VendorTroubles } from './upstream/retry.js';
import { parseState } from './upstream/state.js';
import { Vendor } from './upstream/vendor.js';

interface EngineOptions extends Pick<Context, 'database' | 'now' | 'log' | 'count'> {
  readonly callbacks: VendorCallbacks;
  /** Nothing is asked, so that no key is needed. */
  readonly isSilent?: boolean;
  readonly limits: ResultLimits;
  readonly troubles: VendorTroubles;
  /** Environment variables, which may hold the keys of vendors. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Creates the configured engines. */
export function createEngines(generation: Configuration['generation'], given: EngineOptions): Engines {
  const { image, video, operation, record, replay } = generation;
  const parts = { ...given, isSilent: replay !== undefined };
  const wrap = <Some extends Engine>(engine: Some): Some => {
    if (replay !== undefined) return createReplayEngine(engine, replay);
    return record === undefined ? engine : createRecordingEngine(engine, record, given.log);
  };
  const own = Object.entries(operation).map(([name, settings]) => {
    const only = [name as TaskOperation];
    const isImage = getTaskFacts(name).kind === 'image';
    return [
      name,
      wrap<Engine>(
        isImage ? createImageEngine(settings, only, parts) : createVideoEngine(settings, only, parts),
      ),
    ];
  });
  return {
    image: wrap(createImageEngine(image, listTaskOperations('image'), parts)),
    video: wrap(createVideoEngine(video, listTaskOperations('video'), parts)),
    operations: Object.fromEntries(own),
  };
}

function createImageEngine(
  settings: EngineSettings,
  operations: readonly TaskOperation[],
  parts: EngineOptions,
): Engine<ImageOperation> {
  return settings.engine === 'local'
    ? createImagePreviewEngine()
    : createRemoteEngine(settings, operations, parts);
}

function createVideoEngine(
  settings: EngineSettings,
  operations: readonly TaskOperation[],
  parts: EngineOptions,
): Engine<VideoOperation> {
  return settings.engine === 'local'
    ? createVideoPreviewEngine('atOnce' in settings ? settings.atOnce : undefined)
    : createRemoteEngine(settings, operations, parts);
}

function createRemoteEngine<Operation extends TaskOperation>(
  settings: Exclude<EngineSettings, { engine: 'local' }>,
  operations: readonly TaskOperation[],
  parts: EngineOptions,
): Engine<Operation> {
  if (settings.engine === 'upstream') return createVendorEngine(settings, parts);
  const { workflows } = loadWorkflows(settings.workflows, operations);
  return createComfyUiEngine({ ...parts, settings, workflows });
}

function createVendorEngine<Operation extends TaskOperation>(
  settings: VendorSettings,
  { env, database, isSilent, ...shared }: EngineOptions,
): Engine<Operation> {
  const loaded = loadVendorProfile(settings.vendor);
  if ('problems' in loaded) throw new Error(`The profile ${settings.vendor} is not valid.`);
  const key = isSilent ? '' : readSecret(settings.key, env);
  const vendor = new Vendor(loaded.profile, settings, key, shared.now);
  const readState = async (taskId: string, { id }: EngineJob) =>
    parseState(await readMemory(database, taskId, id));
  return createUpstreamEngine({ ...shared, settings, vendor, readState });
}

/** @returns the memory of a task, if it has the same creator as the other task */
async function readMemory(database: Database, taskId: string, other: string): Promise<string | undefined> {
  const { creator } = await getRow(database, 'tasks', { id: other });
  return (await findRow(database, 'tasks', { id: taskId, creator }))?.memory ?? undefined;
}

/** Lists the kinds of tasks whose results are previews made on this machine, unless one has another engine. */
export function listPreviews({ generation }: Pick<Configuration, 'generation'>): string[] {
  const others = Object.entries(generation.operation).filter(([, { engine }]) => engine !== 'local');
  const kinds = others.map(([operation]) => getTaskFacts(operation).kind);
  return (['image', 'video'] as const).filter(
    (kind) => generation[kind].engine === 'local' && !kinds.includes(kind),
  );
}
