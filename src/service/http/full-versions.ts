import type { Context } from '../operation/context.js';
import { isMissing } from '../operation/refused.js';
import { completeSpelling } from '../registry/version-order.js';
import type { AnyCall, Concern } from './concern.js';

/** Looks for what has no version `1.2` under `1.2.0`, if this registry or the one behind it takes short versions. */
export function createFullVersions(context: Pick<Context, 'compatibility'>): Concern {
  return {
    applies: ({ operation: { params, query } }) =>
      'version' in params.shape || (query !== undefined && 'version' in query.shape),
    around: async (call, next) => {
      try {
        return await next(call);
      } catch (error) {
        const full = isMissing(error) ? completeVersion(context, call) : undefined;
        if (!full) throw error;
        return next(full).catch((other) => {
          throw isMissing(other) ? error : other;
        });
      }
    },
  };
}

type Versioned = { readonly version?: string };

/** @returns the same call with the full version; undefined if it has it already, or none */
function completeVersion(context: Pick<Context, 'compatibility'>, call: AnyCall): AnyCall | undefined {
  const part = 'version' in call.params ? 'params' : 'query';
  const given = call[part] as Versioned | undefined;
  const version = given?.version && completeSpelling(context, given.version);
  if (!version || version === given.version) return undefined;
  return { ...call, [part]: { ...given, version } } as AnyCall;
}
