import type { Socket } from 'node:net';
import { connect } from 'node:net';
import { bareHost, isLocalAddress } from '@reeve/contract/host-name';
import type { GrpcGateway } from '../../agent-identity/grpc-gateway.ts';
import type { Lines } from './lines.ts';
import { departure, joinTunnel } from './tunnel.ts';

export const mostRelayed = 64;

/** The way from inside to the gateway's port for agents, and to nothing else. TLS begins outside. */
export class GatewayRelay {
  readonly mostClients = mostRelayed;
  readonly #gateway: GrpcGateway;
  readonly #lines: Lines;
  readonly #clients = new Set<Socket>();
  #next = 0;

  constructor(gateway: GrpcGateway, lines: Lines) {
    this.#gateway = gateway;
    this.#lines = lines;
  }

  readonly accept = (client: Socket): void => {
    client.on('error', () => client.destroy());
    this.#clients.add(client);
    client.once('close', () => this.#clients.delete(client));
    this.#join(client).catch(() => client.destroy());
  };

  async #join(client: Socket): Promise<void> {
    const line = this.#lines.make();
    line.on('error', () => {});
    try {
      await line.released(departure(client));
      // Of several gateways that act as one, each client gets the next: one that fails is asked for again.
      const { addresses } = this.#gateway;
      line.attach(this.#connect(addresses[this.#next++ % addresses.length] ?? ''));
      await joinTunnel(client, line);
    } finally {
      line.destroy();
    }
  }

  close(): void {
    for (const client of this.#clients) client.destroy();
  }

  #connect(address: string): Socket {
    if (address.startsWith('unix:')) return connect(address.replace(/^unix:(?:\/\/)?/, ''));
    const [, host = '', port = ''] = /^(.*):(\d+)$/.exec(address) ?? [];
    const to = { host: bareHost(host), port: Number(port) };
    const { tls } = this.#gateway;
    if (tls === undefined && isLocalAddress(address)) return connect(to);
    // To load it takes as long as half a start of Node, and most programs on a floor never need it.
    return process
      .getBuiltinModule('node:tls')
      .connect({ ...to, ...tls, servername: bareHost(host), ALPNProtocols: ['h2'] });
  }
}
