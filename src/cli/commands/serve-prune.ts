import type { CommandContext } from './context.js';
import { buildConfiguration } from './serve.js';
import { explainDataError } from './serve-data.js';

/** Removes what the settings of a service no longer keep, or with `--dry-run` counts it. */
export async function run(context: CommandContext): Promise<void> {
  const { command, flags, system, output } = context;
  const configuration = await buildConfiguration(context);
  const service = await import('../../service/index.js');
  const dryRun = flags['dry-run'] === true;
  const options = { env: system.env, dryRun, now: system.now };
  const pruned = await service
    .pruneStore(configuration.data as string, configuration, options)
    .catch((error) => {
      throw explainDataError(service, error);
    });
  await output.answer(pruned, command.shape);
  if (dryRun) await output.note('Nothing was removed.');
}
