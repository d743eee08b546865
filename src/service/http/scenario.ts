import { setTimeout as pause } from 'node:timers/promises';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { isLoopbackHost } from '../../contract/schema/loopback.js';
import { type Configuration, isExposed } from '../configuration/configuration.js';
import { parseScenario, type ScenarioRule } from '../configuration/scenario-settings.js';
import { InvalidConfiguration } from '../configuration/start-errors.js';
import type { Engines } from '../operation/engine.js';
import { Refused } from '../operation/refused.js';
import { disturbEngines, Scenario } from '../operation/scenario.js';

export interface ScenarioInput {
  /** The parsed content of the file. */
  readonly document: unknown;
  readonly seed: number;
}

/**
 * A scenario that is on.
 * @internal
 */
export interface OpenScenario {
  disturbEngines(engines: Engines): Engines;
  disturbRequests(app: FastifyInstance): void;
}

/**
 * @throws InvalidConfiguration if the scenario is not valid, or others than this machine reach the service
 * @internal
 */
export function openScenario({ document, seed }: ScenarioInput, configuration: Configuration): OpenScenario {
  const scenario = new Scenario(parseScenario(document), seed);
  const { publicUrl } = configuration;
  const isPublic = publicUrl !== undefined && !isLoopbackHost(new URL(publicUrl).hostname);
  if (isPublic || isExposed(configuration)) {
    const message = 'is only for a service on loopback, because its requests and tasks fail on purpose';
    throw new InvalidConfiguration([{ path: ['scenario'], message }]);
  }
  return {
    disturbEngines: (engines) => disturbEngines(engines, scenario),
    disturbRequests: (app) => disturbRequests(app, scenario),
  };
}

/** Delays, refuses and drops calls of operations, before anything else looks at them. */
function disturbRequests(app: FastifyInstance, scenario: Scenario): void {
  const chosen = new WeakMap<FastifyRequest, ScenarioRule>();
  app.addHook('onRequest', async (request, reply) => {
    const { operation } = request.routeOptions.config;
    const rule = operation && scenario.choose('request', operation);
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
