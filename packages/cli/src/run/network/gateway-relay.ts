import type { Socket } from 'node:net';
import { connect } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { connect as connectSecurely } from 'node:tls';
import { bareHost, isLocalAddress } from '@reeve/contract/host-name';
import type { GrpcGateway } from '../../agent-identity/grpc-gateway.ts';

export const mostRelayed = 64;

/** The way from inside to the gateway's port for agents, and to nothing else. TLS begins outside. */
export class GatewayRelay {
  readonly mostClients = mostRelayed;
  readonly #gateway: GrpcGateway;
  readonly #clients = new Set<Socket>();
  #next = 0;

  constructor(gateway: GrpcGateway) {
    this.#gateway = gateway;
  }

  readonly accept = (client: Socket): void => {
    client.on('error', () => client.destroy());
    this.#clients.add(client);
    // Of several gateways that act as one, each client gets the next: one that fails is asked for again.
    const { addresses } = this.#gateway;
    const address = addresses[this.#next++ % addresses.length] ?? '';
    const server = this.#connect(address);
    client.once('close', () => {
      this.#clients.delete(client);
      server.destroy();
    });
    Promise.all([pipeline(client, server), pipeline(server, client)]).catch(() => client.destroy());
  };

  close(): void {
    for (const client of this.#clients) client.destroy();
  }

  #connect(address: string): Socket {
    if (address.startsWith('unix:')) return connect(address.replace(/^unix:(?:\/\/)?/, ''));
    const [, host = '', port = ''] = /^(.*):(\d+)$/.exec(address) ?? [];
    const to = { host: bareHost(host), port: Number(port) };
    const { tls } = this.#gateway;
    if (tls === undefined && isLocalAddress(address)) return connect(to);
    return connectSecurely({ ...to, ...tls, servername: bareHost(host), ALPNProtocols: ['h2'] });
  }
}
