/** The parts of undici that are loaded by themselves. */
declare module 'undici/lib/dispatcher/agent.js' {
  import { Agent } from 'undici';

  // biome-ignore lint/style/noDefaultExport: this is what the file exports
  export default Agent;
}

declare module 'undici/lib/api/api-request.js' {
  import type { Dispatcher } from 'undici';

  const request: (this: Dispatcher, options: Dispatcher.RequestOptions) => Promise<Dispatcher.ResponseData>;
  // biome-ignore lint/style/noDefaultExport: this is what the file exports
  export default request;
}

declare module 'undici/lib/dispatcher/env-http-proxy-agent.js' {
  import { EnvHttpProxyAgent } from 'undici';

  // biome-ignore lint/style/noDefaultExport: this is what the file exports
  export default EnvHttpProxyAgent;
}

declare module 'undici/lib/core/connect.js' {
  import { buildConnector } from 'undici';

  // biome-ignore lint/style/noDefaultExport: this is what the file exports
  export default buildConnector;
}

declare module 'undici/lib/dispatcher/pool.js' {
  import { Pool } from 'undici';

  // biome-ignore lint/style/noDefaultExport: this is what the file exports
  export default Pool;
}

declare module 'undici/lib/api/api-connect.js' {
  import type { Dispatcher } from 'undici';

  const connect: Dispatcher['connect'];
  // biome-ignore lint/style/noDefaultExport: this is what the file exports
  export default connect;
}

declare module 'undici/lib/core/symbols.js' {
  /** The parser of a connection. */
  export interface Parser {
    paused: boolean;
    readonly ptr: number;
    readonly llhttp: { llhttp_resume(ptr: number): void };
    resume(): void;
  }

  const symbols: { readonly kParser: unique symbol };
  // biome-ignore lint/style/noDefaultExport: this is what the file exports
  export default symbols;
}
