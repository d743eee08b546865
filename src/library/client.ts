import { createClient as createContractClient } from '../client/client.js';
import type { Answered, CallOptions, ClientOptions, Connection } from '../client/client-options.js';
import type { OperationName, Operations } from './api.generated.js';

/** A client of one service, with a method for each operation. */
export interface Client extends Operations, Connection {
  /** Calls an operation by its dotted name, and also returns the status and headers. */
  requestNamed(
    name: OperationName,
    input: Readonly<Record<string, unknown>>,
    options?: CallOptions,
  ): Promise<Answered<unknown>>;
}

/**
 * Creates a client of one service.
 * @example
 * const client = createClient({ baseUrl: 'http://127.0.0.1:7717' });
 * const node = await client.node.get({ nodeId: 'hello-nodes', include_translations: true });
 */
export function createClient(options: ClientOptions): Client {
  return createContractClient(options);
}
