import { Failure } from '../terminal/failure.js';
import type { CommandContext } from './context.js';
import { buildConfiguration } from './serve.js';
import { explainDataError } from './serve-data.js';

/** Upgrades the data of a service to this release, or with `--check` says whether that is necessary. */
export async function run(context: CommandContext): Promise<void> {
  const { flags, system, output } = context;
  const configuration = await buildConfiguration(context);
  const service = await import('../../service/index.js');
  const check = flags.check === true;
  const { schema, pending, rolling } = await service
    .migrateStore(configuration.data as string, configuration, { env: system.env, check })
    .catch((error) => {
      throw explainDataError(service, error);
    });
  await output.answer(check ? { schema, pending, rolling } : { schema, steps: pending });
  if (!check || pending.length === 0) return;
  throw new Failure(
    `The data has the schema ${schema} of an earlier release; ${pending.length} steps are missing.`,
    {
      code: 'migration_needed',
      hint: rolling
        ? 'Run it without --check while services of the earlier release go on, then replace them one by one.'
        : 'Make a backup and stop all services of the earlier release, then run it without --check.',
    },
  );
}
