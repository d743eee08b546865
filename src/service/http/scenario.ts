import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { OperationName } from '../../contract/index.js';
import { isLoopbackHost } from '../../contract/schema/loopback.js';
import { type Configuration, isExposed } from '../configuration/configuration.js';
import { isTaskRule, parseScenario, type ScenarioRule } from '../configuration/scenario-settings.js';
import { InvalidConfiguration } from '../configuration/start-errors.js';
import { type Engine, EngineFailure, type Engines } from '../operation/engine.js';
import { Refused } from '../operation/refused.js';

export interface ScenarioInput {
  /** The parsed content of the file. */
  readonly document: unknown;
  readonly seed: number;
}

/**
 * What goes wrong. With the same seed, the same calls of an operation go wrong in the same way.
 * @internal
 */
export class Scenario {
  readonly #rules: readonly ScenarioRule[];
  readonly #seed: number;
  /** Calls so far, by rule and operation. */
  readonly #calls = new Map<string, number>();
  /** How often each rule was chosen. */
  readonly #uses = new Map<ScenarioRule, number>();

  /** @throws InvalidConfiguration if it is not valid, or others than this machine reach the service */
  constructor({ document, seed }: ScenarioInput, configuration: Configuration) {
    this.#rules = parseScenario(document);
    this.#seed = seed;
    const { publicUrl } = configuration;
    const isPublic = publicUrl !== undefined && !isLoopbackHost(new URL(publicUrl).hostname);
    if (!isPublic && !isExposed(configuration)) return;
    const message = 'is only for a service on loopback, because its requests and tasks fail on purpose';
    throw new InvalidConfiguration([{ path: ['scenario'], message }]);
  }

  /** Delays, refuses and drops calls of operations, before anything else looks at them. */
  disturbRequests(app: FastifyInstance): void {
    const chosen = new WeakMap<FastifyRequest, ScenarioRule>();
    app.addHook('onRequest', async (request, reply) => {
      const { operation } = request.routeOptions.config;
      const rule = operation && this.#choose('request', operation);
      if (!rule) return;
      chosen.set(request, rule);
      // It does not keep a service that stops from ending.
      if (rule.delayMs !== undefined) await pause(rule.delayMs, undefined, { ref: false });
      if (rule.refuse)
        throw new Refused(rule.refuse, 'The scenario refused this.', undefined, rule.retryAfterSeconds);
      if (rule.drop !== 'before') return;
      reply.hijack();
      request.raw.socket.destroy();
    });
    app.addHook('onSend', async (request, _reply, body) => {
      const rule = chosen.get(request);
      if (rule?.drop === 'after') request.raw.socket.destroy();
      // The signature no longer fits either; both are answered alike.
      return rule?.expire && typeof body === 'string' ? body.replace(/(?<=[?&]expires=)\d+/g, '0') : body;
    });
  }

  /** Creates engines that delay and fail tasks. A task is counted when it first runs. */
  disturbEngines({ image, video, operations = {} }: Engines): Engines {
    const own = Object.entries(operations).map(([name, engine]) => [name, this.#disturbEngine(engine)]);
    return {
      image: this.#disturbEngine(image),
      video: this.#disturbEngine(video),
      operations: Object.fromEntries(own),
    };
  }

  #disturbEngine<Some extends Engine>(engine: Some): Some {
    const chosen = new Map<string, ScenarioRule | undefined>();
    const run: Engine['run'] = async (job, signal, ...rest) => {
      if (!chosen.has(job.id)) chosen.set(job.id, this.#choose('task', job.operation));
      const { taskDelayMs, fail } = chosen.get(job.id) ?? {};
      if (taskDelayMs !== undefined) await pause(taskDelayMs, undefined, { signal });
      if (fail) throw new EngineFailure(fail.reason, { code: fail.code });
      return engine.run(job, signal, ...rest);
    };
    return { ...engine, run };
  }

  /** Chooses the first rule that applies to this call, which all rules count. */
  #choose(of: 'request' | 'task', operation: OperationName): ScenarioRule | undefined {
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
