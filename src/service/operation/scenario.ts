import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { OperationName } from '../../contract/index.js';
import { isTaskRule, type ScenarioRule } from '../configuration/scenario-settings.js';
import { type Engine, EngineFailure, type Engines } from './engine.js';

/** Chooses what goes wrong. With the same seed, the same calls of an operation go wrong in the same way. */
export class Scenario {
  readonly #rules: readonly ScenarioRule[];
  readonly #seed: number;
  /** Calls so far, by rule and operation. */
  readonly #calls = new Map<string, number>();
  /** How often each rule was chosen. */
  readonly #uses = new Map<ScenarioRule, number>();

  constructor(rules: readonly ScenarioRule[], seed: number) {
    this.#rules = rules;
    this.#seed = seed;
  }

  /** Chooses the first rule that applies to this call, which all rules count. */
  choose(of: 'request' | 'task', operation: OperationName): ScenarioRule | undefined {
    let chosen: ScenarioRule | undefined;
    for (const [index, rule] of this.#rules.entries()) {
      if (isTaskRule(rule) !== (of === 'task') || rule.operations?.includes(operation) === false) continue;
      const key = `${index} ${operation}`;
      const call = (this.#calls.get(key) ?? 0) + 1;
      this.#calls.set(key, call);
      const uses = this.#uses.get(rule) ?? 0;
      if (chosen || uses >= (rule.times ?? Number.POSITIVE_INFINITY)) continue;
      if (call !== (rule.nth ?? call) || this.#draw(`${key} ${call}`) >= (rule.chance ?? 1)) continue;
      this.#uses.set(rule, uses + 1);
      chosen = rule;
    }
    return chosen;
  }

  /** @returns from 0 to 1. Not from a sequence: how often a client polls would change all that follows. */
  #draw(call: string): number {
    return createHash('sha256').update(`${this.#seed} ${call}`).digest().readUInt32BE() / 2 ** 32;
  }
}

/** Creates engines that delay and fail tasks as a scenario says. A task is counted when it first runs. */
export function disturbEngines({ image, video }: Engines, scenario: Scenario): Engines {
  return { image: disturbEngine(image, scenario), video: disturbEngine(video, scenario) };
}

function disturbEngine<Some extends Engine>(engine: Some, scenario: Scenario): Some {
  const chosen = new Map<string, ScenarioRule | undefined>();
  const run: Engine['run'] = async (job, signal, ...rest) => {
    if (!chosen.has(job.id)) chosen.set(job.id, scenario.choose('task', job.operation));
    const { taskDelayMs, fail } = chosen.get(job.id) ?? {};
    if (taskDelayMs !== undefined) await pause(taskDelayMs, undefined, { signal });
    if (fail) throw new EngineFailure(fail.reason, { code: fail.code });
    return engine.run(job, signal, ...rest);
  };
  return { ...engine, run };
}
