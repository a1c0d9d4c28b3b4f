import type { Tracing } from '../../telemetry/tracing.ts';
import type { RpcRoutes, UnaryHandler } from './rpc.ts';

/** The same routes, each call in a span that continues the caller's trace. */
export function traced(routes: RpcRoutes, tracing: Tracing): RpcRoutes {
  const wrap =
    (path: string, handler: UnaryHandler): UnaryHandler =>
    async (message, call) => {
      const span = tracing.start(path.slice(1), call.traceparent, { 'rpc.system': 'grpc' });
      try {
        return await handler(message, call);
      } catch (error) {
        tracing.fail(span);
        throw error;
      } finally {
        span.end();
      }
    };
  return { ...routes, unary: new Map([...routes.unary].map(([path, handler]) => [path, wrap(path, handler)])) };
}
