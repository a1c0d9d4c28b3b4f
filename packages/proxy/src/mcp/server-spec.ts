import type { Costs } from './govern/costs.ts';
import { HttpUpstream } from './transport/http-upstream.ts';
import type { HttpUpstreamOptions, ServerUrl } from './transport/server-url.ts';
import type { ServerCommand } from './transport/stdio-child.ts';
import { StdioUpstream } from './transport/stdio-upstream.ts';
import type { Upstream, UpstreamEvents } from './transport/upstream.ts';

/** A server behind the proxy, and what calls of its tools cost. */
export type ServerSpec = (ServerCommand | ServerUrl) & { readonly costs: Costs };

export function isCommand(spec: ServerSpec): spec is ServerCommand & { readonly costs: Costs } {
  return 'command' in spec;
}

export interface ConnectOptions extends HttpUpstreamOptions {
  readonly warn: (line: string) => void;
}

/** A connection to the server for one session. */
export function connectTo(spec: ServerSpec, events: UpstreamEvents, { warn, ...options }: ConnectOptions): Upstream {
  if (isCommand(spec)) return new StdioUpstream(spec, events, () => warn(noise));
  return new HttpUpstream(spec, events, options);
}

export const noise = 'the MCP server writes to its standard output what is no message; it is left out';
