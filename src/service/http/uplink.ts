import type { Context } from '../operation/context.js';
import { isMissing } from '../operation/refused.js';
import { askUplink } from '../registry/uplink.js';
import { addFromUplink } from '../registry/uplink-lists.js';
import type { Concern } from './concern.js';

/** Answers with what the registry behind this one has where a node is not held here, and adds it to lists. */
export function createUplink(context: Context): Concern {
  return {
    applies: () => context.configuration.uplink !== undefined,
    around: async (call, next, exchange) => {
      const { name } = exchange.route;
      const find = async () => {
        try {
          const own = await next(call);
          return { own, added: await addFromUplink(context, name, call, own) };
        } catch (error) {
          const added = isMissing(error) ? await askUplink(context, name, call) : undefined;
          if (added === undefined) throw error;
          return { own: undefined, added };
        }
      };
      const { own, added } = await find();
      if (added === undefined) return own;
      // It may change without a change of the database here.
      exchange.send = undefined;
      return added;
    },
  };
}
