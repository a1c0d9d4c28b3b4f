import type { Route } from '@reeve/contract/http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { StreamAnswer } from './handler.ts';
import { upgradeOf } from './upgrades.ts';

export interface StreamPorts {
  /** Runs last before the stream is opened; throws if it may not be. */
  readonly admit: () => Promise<void>;
  /** Called when the stream is opened, which counts as its answer. */
  readonly onOpen: (request: FastifyRequest, reply: FastifyReply) => void;
}

/** Hands the connection of a request to a stream, once the request is known to be valid. */
export async function openStream(
  route: Route,
  answer: StreamAnswer,
  request: FastifyRequest,
  reply: FastifyReply,
  ports: StreamPorts,
): Promise<FastifyReply> {
  const { raw } = request;
  const response = reply.raw;
  const { socket, head } = route.stream === 'websocket' ? upgradeOf(raw) : { socket: raw.socket, head: noBytes };
  const [type] = route.success.types ?? [];
  void reply.code(route.success.status);
  if (type !== undefined) void reply.header('content-type', type);
  if (request.method === 'HEAD') return reply.send();
  await ports.admit();
  reply.hijack();
  ports.onOpen(request, reply);
  const headers = Object.fromEntries(Object.entries(reply.getHeaders()).map(([name, value]) => [name, String(value)]));
  if (route.stream === 'websocket') {
    response.detachSocket(raw.socket);
  } else {
    response.writeHead(reply.statusCode, headers);
    response.flushHeaders();
  }
  answer.open({ request: raw, response, socket, head, headers });
  return reply;
}

const noBytes = Buffer.alloc(0);
