import type { Server } from 'node:net';
import type { Agent } from '@reeve/sdk';
import type { GrpcGateway } from '../../agent-identity/grpc-gateway.ts';
import type { InsideSockets } from '../jail/start-jail.ts';
import { GatewayRelay } from './gateway-relay.ts';
import type { Governing } from './governed-connections.ts';
import { GovernedConnections } from './governed-connections.ts';
import { InsideAgent } from './inside-agent.ts';
import { highWaterMark } from './line.ts';
import { Lines } from './lines.ts';
import type { InsideName } from './inside-ports.ts';
import { ProxyFront } from './proxy-front.ts';
import { requireDescriptors } from './require-descriptors.ts';

export interface NetworkRequest extends Omit<Governing, 'agent'> {
  readonly gateway: GrpcGateway;
  /** That of who acts inside. */
  readonly token: string;
}

/** What a program has of the network: a proxy that asks for each connection, and the way to the gateway. */
export class InsideNetwork {
  readonly #lines = new Lines();
  readonly #connections: GovernedConnections;
  readonly #fronts: Readonly<Record<InsideName, ProxyFront | GatewayRelay>>;
  readonly #agent: InsideAgent;
  readonly #servers: Server[] = [];
  #closed: Promise<void> | undefined;

  constructor(agent: Agent, { gateway, token, ...how }: NetworkRequest) {
    requireDescriptors();
    this.#connections = new GovernedConnections({ ...how, agent }, this.#lines);
    this.#fronts = { proxy: new ProxyFront(this.#connections), gateway: new GatewayRelay(gateway, this.#lines) };
    this.#agent = new InsideAgent(agent, token);
  }

  /** Nothing inside may begin before the gateway knows who acts there. */
  begin(): Promise<void> {
    return this.#agent.begin();
  }

  /** Takes over the sockets that listen inside. */
  serve(sockets: InsideSockets): void {
    for (const [name, server] of sockets) {
      this.#servers.push(server);
      const { accept, mostClients } = this.#fronts[name];
      // Clients above the limit are cut before anything is read of them, and take no descriptor.
      Object.assign(server, { allowHalfOpen: true, maxConnections: mostClients, noDelay: true, highWaterMark });
      server.on('connection', accept);
    }
  }

  /** What acts inside has a credential for a while more, or again. Returns whether the gateway has answered. */
  extend(): Promise<boolean> {
    return this.#agent.extend();
  }

  hold(why: string): void {
    this.#lines.hold(why);
  }

  release(why: string): void {
    this.#lines.release(why);
  }

  /** Cuts everything, and waits until the gateway knows. */
  close(): Promise<void> {
    return (this.#closed ??= this.#close());
  }

  async #close(): Promise<void> {
    for (const server of this.#servers) server.close();
    await Promise.all([this.#connections.close(), this.#agent.end()]);
    for (const front of Object.values(this.#fronts)) front.close();
  }
}
