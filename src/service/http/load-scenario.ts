import type { Configuration } from '../configuration/configuration.js';
import type { OpenScenario, ScenarioInput } from './scenario.js';

/** Opens a scenario, whose code is loaded only where there is one. @throws InvalidConfiguration */
export async function loadScenario(
  given: ScenarioInput,
  configuration: Configuration,
): Promise<OpenScenario> {
  const { openScenario } = await import('./scenario.js');
  return openScenario(given, configuration);
}
