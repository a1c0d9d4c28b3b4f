import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Reeve } from '@reeve/sdk';
import type { OAuthSettings } from './front/oauth-settings.ts';
import { ProtectedResource } from './front/protected-resource.ts';
import { AgentsByToken } from '../front/agents-by-token.ts';
import { SubjectIssuers } from '../front/subject-issuers.ts';
import { HostCheck } from '../front/host-check.ts';
import { AllowedOrigins } from './front/allowed-origins.ts';
import { answerRequest } from './front/answer-request.ts';
import type { AgentTokens } from './front/authenticate.ts';
import type { FrontSessionsOptions } from './front/front-sessions.ts';
import { FrontSessions } from './front/front-sessions.ts';
import { refuseRequest } from './front/refuse-request.ts';
import { RequestRoom } from './front/request-room.ts';

export interface ServeMcpOptions extends FrontSessionsOptions {
  readonly reeve: Reeve;
  readonly host: string;
  readonly port: number;
  /** Names besides the listening address and those of this machine. */
  readonly allowedHosts: readonly string[];
  /** How clients reach the proxy. Undefined: at the address that it listens on. */
  readonly publicUrl: URL | undefined;
  /** Whose access tokens are taken. Undefined: tokens of agents alone. */
  readonly oauth: OAuthSettings | undefined;
  readonly agentTokens: AgentTokens;
  /** Origins of pages that may call, besides the proxy's own. */
  readonly allowedOrigins: readonly string[];
}

export interface McpServing {
  readonly url: string;
  /** Ends all sessions and their servers. */
  close(): Promise<void>;
}

const sweepMs = 15_000;
/** The bytes of messages under way, of all callers and of one. */
const mostTogether = 512 * 1024 * 1024;
const mostOfCaller = 64 * 1024 * 1024;
const mostIdle = 1000;
const mostConnections = 10_000;

/** Room for an access token and an ID token of 16 KiB each, beside everything else. */
const maxHeaderSize = 64 * 1024;

/** Streamable HTTP at `/mcp/{server}`, in front of each of the servers. */
export async function serveMcp(options: ServeMcpOptions): Promise<McpServing> {
  const { reeve, servers, host, port, idleMs, warn } = options;
  const sessions = new FrontSessions(options);
  const agents = new AgentsByToken(reeve, { mostIdle, idleMs, inUse: () => sessions.inUse() });
  const { publicUrl, oauth: settings, agentTokens } = options;
  const hosts = new HostCheck(host, [...options.allowedHosts, ...(publicUrl === undefined ? [] : [publicUrl.host])]);
  const ownOrigin = publicUrl === undefined ? [] : [publicUrl.origin];
  const origins = new AllowedOrigins([...options.allowedOrigins, ...ownOrigin]);
  const room = new RequestRoom({ mostTogether, mostOfCaller });
  const server = createServer({ maxHeaderSize });
  server.maxConnections = mostConnections;
  server.listen(port, host);
  await once(server, 'listening');
  const url = urlOf(server.address() as AddressInfo);
  const oauth = settings === undefined ? undefined : new ProtectedResource(settings, publicUrl?.origin ?? url);
  const subjectIssuers = new SubjectIssuers((token, call) => reeve.identify(token, call));
  const front = { servers, hosts, origins, sessions, room, doorman: { agents, agentTokens, oauth, subjectIssuers } };
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    answerRequest(front, request, response).catch((error: unknown) => {
      if (request.socket.destroyed) return;
      warn(`a request failed: ${error instanceof Error ? error.message : String(error)}`);
      if (response.headersSent) response.destroy();
      else refuseRequest(response, 500, 'the proxy failed', { code: -32_603 });
    });
  });
  const timer = setInterval(() => sessions.sweep(), sweepMs).unref();
  return {
    url,
    close: async () => {
      clearInterval(timer);
      const closed = once(server, 'close');
      server.close();
      await sessions.closeAll();
      server.closeAllConnections();
      await closed;
      await agents.close();
    },
  };
}

function urlOf({ address, port, family }: AddressInfo): string {
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}
