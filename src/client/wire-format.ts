import type { Operation } from '../contract/operation.js';
import type { Names } from '../contract/schema/message.js';
import type { ClientOptions } from './client-options.js';
import { outlines, shared } from './outlines.js';

/** The operation of a request, by its method and its path with the names in braces. */
interface Place {
  readonly method: string;
  readonly path: string;
}

/** The parts of a request that services write differently. */
interface Parts {
  readonly query: object;
  readonly body: unknown;
}

/** How a service writes the requests and answers of the contract. */
export class WireFormat {
  readonly #naming: ClientOptions['naming'];

  constructor({ naming }: Pick<ClientOptions, 'naming'>) {
    this.#naming = naming;
  }

  /** How messages call fields and values. */
  get names(): Names {
    return this.#naming?.names ?? {};
  }

  /** What the registry accepts of a pack. */
  get packRules() {
    return this.#naming?.packRules ?? {};
  }

  /** Reads a request that may be written in either way. */
  readRequest<Request extends Parts>(place: Place, request: Request): Request {
    const { query, body } = request;
    return this.#naming
      ? { ...request, ...this.#naming.readRequest(findNamed(place), { query: { ...query }, body }) }
      : request;
  }

  /** Writes a valid request as it is sent. */
  writeRequest<Request extends Place & Parts>(request: Request): Request {
    const { query, body } = request;
    return this.#naming
      ? { ...request, ...this.#naming.writeRequest(findNamed(request), { query: { ...query }, body }) }
      : request;
  }

  readAnswer(place: Place, answer: unknown): unknown {
    return this.#naming ? this.#naming.readAnswer(findNamed(place), answer) : answer;
  }

  /** Writes an answer that several requests make as if one operation had answered it. */
  writeAnswer<Answer>(place: Place, answer: Answer): Answer {
    return this.#naming ? (this.#naming.writeAnswer(findNamed(place), answer) as Answer) : answer;
  }

  /** Renames fields, dotted ones too, in the values of an object. */
  writeFields<Fields extends object>(fields: Fields): Fields {
    const { field = (name) => name } = this.names;
    const entries = Object.entries(fields).map(([key, names]) => [
      key,
      Array.isArray(names) ? names.map(field) : field(names),
    ]);
    return Object.fromEntries(entries) as Fields;
  }

  /**
   * Declares an operation as the service has it.
   * @returns `known` with the values of the contract, and `open` with others, which a newer service may have
   */
  async declare(name: string): Promise<Record<'known' | 'open', Operation>> {
    const [{ getOperation }, { adaptOperation, openOperation }] = await Promise.all([
      import('../contract/index.js'),
      import('../contract/naming/adapt-operation.js'),
    ]);
    const operation = getOperation(name);
    return {
      known: adaptOperation(this.#naming, name, operation),
      open: openOperation(this.#naming, name, operation),
    };
  }

  /** The code of the contract for an error of a service that has others; undefined if nothing is known of it. */
  readonly findErrorCode = (status: number, text: string): string | undefined =>
    this.#naming?.findErrorCode(status, text);
}

function findNamed({ method, path }: Place) {
  const found = [...outlines].find(([, outline]) => outline.method === method && outline.path === path);
  const [name, outline] = found ?? [];
  return { ...outline, name, method, path, shared };
}
