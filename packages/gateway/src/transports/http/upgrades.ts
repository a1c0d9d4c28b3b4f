import type { IncomingMessage } from 'node:http';
import { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Route } from '@reeve/contract/http';
import { routes } from '@reeve/contract/http';
import type { FastifyInstance } from 'fastify';
import { HttpError } from './problem.ts';

/** The connection of a request for a WebSocket. */
export interface Upgrade {
  readonly socket: Duplex;
  /** Bytes that came after the request. */
  readonly head: Buffer;
}

const socketPaths = new Set(
  Object.values<Route>(routes).flatMap(({ stream, path }) => (stream === 'websocket' ? [path] : [])),
);

const pending = new WeakMap<IncomingMessage, Upgrade>();

/** Whether Node should hand the connection over. Elsewhere an upgrade request is ignored, as the standard allows. */
export function mayUpgrade({ method, url = '', headers }: IncomingMessage): boolean {
  return method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket' && socketPaths.has(url.split('?')[0] ?? '');
}

/** Routes requests for a WebSocket like all others, so that each can be refused in the same way. */
export function acceptUpgrades(app: FastifyInstance): void {
  app.server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const response = new ServerResponse(request);
    response.assignSocket(socket as Socket);
    // Nothing is read after a refusal.
    response.shouldKeepAlive = false;
    response.on('finish', () => (socket as Socket).destroySoon());
    socket.on('error', () => undefined);
    pending.set(request, { socket, head });
    app.routing(request, response);
  });
}

/** The connection of a well-formed request for a WebSocket. */
export function upgradeOf(request: IncomingMessage): Upgrade {
  const upgrade = pending.get(request);
  const needed = { connection: 'Upgrade', upgrade: 'websocket' };
  if (upgrade === undefined) {
    throw new HttpError('upgrade_required', 'this is a WebSocket; /api/v1/events is the same over HTTP', {}, needed);
  }
  if (request.headers['sec-websocket-version'] !== '13') {
    const version = { ...needed, 'sec-websocket-version': '13' };
    throw new HttpError('upgrade_required', 'Sec-WebSocket-Version must be 13', {}, version);
  }
  if (!/^[+/0-9A-Za-z]{22}==$/.test(request.headers['sec-websocket-key'] ?? '')) {
    throw new HttpError('bad_request', 'Sec-WebSocket-Key must be 16 bytes in base64');
  }
  return upgrade;
}
