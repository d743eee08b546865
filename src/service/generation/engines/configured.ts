import type { Configuration } from '../../configuration.js';
import type { Context, Database } from '../../context.js';
import { InvalidConfiguration } from '../../start-failures.js';
import type { Engine, EngineJob, Engines, ImageOperation, TaskOperation, VideoOperation } from '../engine.js';
import { localImage } from './local-image/local-image.js';
import { localVideo } from './local-video/local-video.js';
import type { VendorCallbacks } from './upstream/callbacks.js';
import { keptIn } from './upstream/memory.js';
import { KeyMissing, keyOf, type VendorSettings } from './upstream/settings.js';
import { upstream } from './upstream/upstream.js';
import { Vendor } from './upstream/vendor.js';

interface Parts extends Pick<Context, 'database' | 'now' | 'log'> {
  readonly callbacks: VendorCallbacks;
  /** Where the configuration may say that a key lies. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * What makes images and videos, as the configuration says.
 * @throws InvalidConfiguration where a vendor's key is not where it should be
 */
export function configuredEngines({ image, video }: Configuration['generation'], parts: Parts): Engines {
  return {
    image: image.engine === 'local' ? localImage() : vendorEngine<ImageOperation>('image', image, parts),
    video:
      video.engine === 'local'
        ? localVideo(video.atOnce)
        : vendorEngine<VideoOperation>('video', video, parts),
  };
}

function vendorEngine<Operation extends TaskOperation>(
  kind: 'image' | 'video',
  settings: VendorSettings,
  { env, database, ...shared }: Parts,
): Engine<Operation> {
  try {
    const vendor = new Vendor(settings, keyOf(settings, env));
    const keptOf = async (taskId: string, { id }: EngineJob) => keptIn(await memoryOf(database, taskId, id));
    return upstream({ ...shared, settings, vendor, keptOf });
  } catch (error) {
    if (!(error instanceof KeyMissing)) throw error;
    throw new InvalidConfiguration([{ path: ['generation', kind, 'key'], message: error.message }]);
  }
}

/** The memory of one task, if it is of the same caller as another. */
async function memoryOf(database: Database, taskId: string, other: string): Promise<string | undefined> {
  const task = await database
    .selectFrom('tasks')
    .select('memory')
    .where('id', '=', taskId)
    .where('creator', '=', (of) => of.selectFrom('tasks').select('creator').where('id', '=', other))
    .executeTakeFirst();
  return task?.memory ?? undefined;
}
