import type { Configuration } from '../configuration/configuration.js';
import type { Scenario, ScenarioInput } from './scenario.js';

/** Opens a scenario, whose code is loaded only where there is one. @throws InvalidConfiguration */
export async function loadScenario(given: ScenarioInput, configuration: Configuration): Promise<Scenario> {
  const { Scenario } = await import('./scenario.js');
  return new Scenario(given, configuration);
}
