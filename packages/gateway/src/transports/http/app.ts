import type { FastifyInstance } from 'fastify';
import fastify from 'fastify';
import type { Health } from '../../telemetry/health.ts';
import type { Logger } from '../../telemetry/logger.ts';
import { problem, sendProblem } from './problem.ts';

export interface HttpOptions {
  readonly health: Health;
  readonly logger: Logger;
  readonly tls: { readonly cert: Buffer; readonly key: Buffer } | undefined;
}

/** The HTTP side of the gateway: whether it lives and whether it is ready. */
export function createHttpApp(options: HttpOptions): FastifyInstance {
  const { health, logger, tls } = options;
  const app = fastify({
    forceCloseConnections: 'idle',
    ...(tls === undefined ? {} : { https: tls }),
  }) as FastifyInstance;

  app.get('/healthz', () => ({ status: 'ok' }));
  app.get('/readyz', (_request, reply) => {
    void reply.code(health.serving ? 200 : 503);
    return { status: health.status, draining: health.draining, parts: Object.fromEntries(health.parts) };
  });

  app.setNotFoundHandler((request, reply) =>
    sendProblem(
      reply,
      request,
      problem('not_found', 404, `there is no ${request.method} ${request.url.split('?')[0]}`),
    ),
  );
  app.setErrorHandler((error: Error & { statusCode?: number; code?: string }, request, reply) => {
    const status = error.statusCode ?? 500;
    if (status >= 500) logger.error({ err: error }, 'a request failed unexpectedly');
    const known =
      status < 500 ? problem('bad_request', status, error.message) : problem('internal', 500, 'internal error');
    return sendProblem(reply, request, known);
  });
  return app;
}
