import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import { connect, isIP } from 'node:net';
import type * as Tls from 'node:tls';
import type { Target } from './target.ts';

export interface ClientTls {
  /** The trusted authorities, in PEM. Those of Node if left out. */
  readonly ca?: string | Buffer | undefined;
  /** The certificate and key of the client, in PEM. */
  readonly cert?: string | Buffer | undefined;
  readonly key?: string | Buffer | undefined;
  /** The name on the server's certificate, if it differs from the address. */
  readonly serverName?: string | undefined;
}

/** Opens a socket. It may still be connecting; `error` and `close` tell if that fails. */
export type Dial = () => Socket;

/** Only who uses TLS loads it: it takes longer to load than all the rest. */
function tlsModule(): typeof Tls {
  // Node has the former since 20.16. Unlike the latter, it works in a program that is no file.
  return process.getBuiltinModule?.('node:tls') ?? (createRequire(import.meta.url)('node:tls') as typeof Tls);
}

/** Throws at once if the certificates cannot be read. */
export function dialerOf({ where }: Target, tls: ClientTls | undefined): Dial {
  if (tls === undefined) return () => quiet(connect({ ...where, noDelay: true }));
  const { connect: connectTls, createSecureContext } = tlsModule();
  const secureContext = createSecureContext({ ca: tls.ca, cert: tls.cert, key: tls.key });
  const serverName = tls.serverName ?? nameIn(where);
  const options: Tls.ConnectionOptions = {
    ...where,
    secureContext,
    ALPNProtocols: ['h2'],
    ...(serverName === undefined ? {} : { servername: serverName }),
  };
  return () => {
    const socket = connectTls(options);
    socket.setNoDelay(true);
    socket.once('secureConnect', () => {
      if (socket.alpnProtocol !== 'h2') socket.destroy(new Error('the server does not speak HTTP/2 over TLS'));
    });
    return quiet(socket);
  };
}

/** The name that the server is told, since several may share an address. An address is no name. */
function nameIn(where: Target['where']): string | undefined {
  return 'host' in where && isIP(where.host) === 0 ? where.host : undefined;
}

/** A connection keeps no process alive: whoever waits for an answer does that. */
function quiet<Kind extends Socket>(socket: Kind): Kind {
  socket.unref();
  socket.once('connect', () => socket.unref());
  return socket;
}
