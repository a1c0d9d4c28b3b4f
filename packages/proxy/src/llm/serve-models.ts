import { once } from 'node:events';
import type { Server } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { bounds } from '@reeve/contract';
import type { ConnectOptions } from '@reeve/sdk';
import { connect } from '@reeve/sdk';
import { AgentsByToken } from '../front/agents-by-token.ts';
import { HostCheck } from '../front/host-check.ts';
import { UpstreamConnections } from './call-upstream.ts';
import { handleRequest } from './handle-request.ts';
import { HeldBytes } from './held-bytes.ts';
import type { Upstream } from './model-config.ts';
import { BodyReader } from './read-body.ts';
import type { Verdict } from './results/judge-tool-messages.ts';
import { KnownMasks } from './results/known-masks.ts';
import { promptLimits } from './results/mask-prompt.ts';
import { OwnedMemory } from './results/owned-memory.ts';
import type { AskedTool } from './results/tool-message.ts';

export interface ServeModelsOptions {
  readonly upstreams: readonly Upstream[];
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  /** Where the gateway answers agents, or several that act as one. */
  readonly gateway: Pick<ConnectOptions, 'addresses' | 'tls'>;
  readonly approvalWaitMs: number;
  readonly upstreamTimeoutMs: number;
  /** Calls of one agent at once. */
  readonly callsPerAgent: number;
  readonly mostBodyBytes: number;
  /** Names besides the listening address and those of this machine. */
  readonly allowedHosts: readonly string[];
  readonly failOpen: boolean;
  readonly tell: (line: string) => void;
}

/** A running model proxy. */
export interface ModelProxy {
  readonly http: string;
  /** Takes no further calls, waits for those under way, and ends those that take longer. */
  close(drainMs: number): Promise<void>;
}

const mostBodiesTogether = 512 * 1024 * 1024;
const mostAnswersTogether = 512 * 1024 * 1024;
const largestHeaders = 32 * 1024;
/** To send a request with its body. */
const requestMs = 120_000;
/** Longer than clients keep theirs, so that none sends into a connection that is about to close. */
const keepAliveMs = 75_000;
const mostConnections = 10_000;
const settleMs = 5000;
const mostVerdictBytes = 64 * 1024 * 1024;
const mostCallBytes = 16 * 1024 * 1024;
const idleAgents = 1000;
const idleAgentMs = 600_000;

/** Serves the protocols of model providers, with every call checked before it goes to its upstream. */
export async function serveModels(options: ServeModelsOptions): Promise<ModelProxy> {
  const { upstreams, approvalWaitMs, upstreamTimeoutMs, failOpen, tell, mostBodyBytes } = options;
  // Who waits for a gateway rides through its restart. Who would go on without one does not wait long. Checks in one
  // stream take the least time.
  const reeve = connect({ ...options.gateway, deadlineMs: failOpen ? 1000 : 5000, pipeline: 'always' });
  const connections = new UpstreamConnections();
  const agents = new AgentsByToken(reeve, { mostIdle: idleAgents, idleMs: idleAgentMs });
  const bodies = new BodyReader({ most: mostBodyBytes, mostTogether: mostBodiesTogether });
  const hosts = new HostCheck(options.host, options.allowedHosts);
  const { callsPerAgent } = options;
  const limits = { callsPerAgent, approvalWaitMs, upstreamTimeoutMs };
  const toolMemory = {
    verdicts: new OwnedMemory<Verdict>(mostVerdictBytes),
    calls: new OwnedMemory<AskedTool>(mostCallBytes),
  };
  const answers = new HeldBytes({ most: bounds.result, mostTogether: mostAnswersTogether });
  const prompts = new HeldBytes(promptLimits);
  const knownMasks = new KnownMasks();
  const context = {
    hosts,
    bodies,
    answers,
    prompts,
    agents,
    upstreams,
    connections,
    failOpen,
    tell,
    toolMemory,
    knownMasks,
    ...limits,
  };
  const underWay = new Set<Promise<void>>();
  const server = createServer({ maxHeaderSize: largestHeaders, requestTimeout: requestMs }, (request, response) => {
    // A client may go away at any time. The call learns that from the end of its response.
    response.on('error', () => {});
    const handled = handleRequest(context, request, response).finally(() => underWay.delete(handled));
    underWay.add(handled);
  });
  server.keepAliveTimeout = keepAliveMs;
  server.maxConnections = mostConnections;
  const end = async () => {
    await agents.close();
    reeve.close();
    connections.close();
  };
  try {
    server.listen(options.port, options.host);
    await once(server, 'listening');
  } catch (error) {
    await end();
    throw error;
  }
  return {
    http: `http://${placeOf(server)}`,
    close: async (drainMs) => {
      await drained(server, underWay, drainMs);
      await end();
    },
  };
}

async function drained(server: Server, underWay: ReadonlySet<Promise<void>>, drainMs: number): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  const tidy = setInterval(() => server.closeIdleConnections(), 50);
  const force = setTimeout(() => server.closeAllConnections(), drainMs);
  await closed;
  clearInterval(tidy);
  clearTimeout(force);
  // Those that were cut off still settle. Those that are paused end with their agents.
  await Promise.race([Promise.allSettled(underWay), sleep(settleMs, undefined, { ref: false })]);
}

function placeOf(server: Server): string {
  const { address, port, family } = server.address() as AddressInfo;
  return family === 'IPv6' ? `[${address}]:${port}` : `${address}:${port}`;
}
