import type { Span } from '@opentelemetry/api';
import { ROOT_CONTEXT, SpanKind, SpanStatusCode } from '@opentelemetry/api';
import type { RpcRoutes, UnaryHandler } from '../transports/grpc/rpc.ts';

/** Opens and closes spans; what is exported, and where to, follows from the standard OTEL_ variables. */
export interface Tracing {
  start(name: string, traceparent: string | undefined, attributes?: Readonly<Record<string, string>>): Span;
  stop(): Promise<void>;
}

/** Loads the OpenTelemetry SDK; only called where tracing is configured, as it is not small. */
export async function startTracing(version: string): Promise<Tracing> {
  const [
    { TracerProvider, BatchSpanProcessor },
    { OTLPTraceExporter },
    { resourceFromAttributes, defaultResource },
    { W3CTraceContextPropagator },
  ] = await Promise.all([
    import('@opentelemetry/sdk-trace'),
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/resources'),
    import('@opentelemetry/core'),
  ]);
  const named = resourceFromAttributes({ 'service.name': 'reeve', 'service.version': version });
  const provider = new TracerProvider({
    resource: named.merge(defaultResource()),
    spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter() })],
  });
  const tracer = provider.getTracer('reeve', version);
  const propagator = new W3CTraceContextPropagator();
  const getter = { get: (carrier: Record<string, string>, key: string) => carrier[key], keys: Object.keys };
  return {
    start: (name, traceparent, attributes = {}) => {
      const parent =
        traceparent === undefined ? ROOT_CONTEXT : propagator.extract(ROOT_CONTEXT, { traceparent }, getter);
      return tracer.startSpan(name, { kind: SpanKind.SERVER, attributes }, parent);
    },
    stop: () => provider.shutdown(),
  };
}

/** The same routes, each call in a span that continues the caller's trace. */
export function traced(routes: RpcRoutes, tracing: Tracing): RpcRoutes {
  const wrap =
    (path: string, handler: UnaryHandler): UnaryHandler =>
    async (message, call) => {
      const span = tracing.start(path.slice(1), call.traceparent, { 'rpc.system': 'grpc' });
      try {
        return await handler(message, call);
      } catch (error) {
        span.setStatus({ code: SpanStatusCode.ERROR });
        throw error;
      } finally {
        span.end();
      }
    };
  return { ...routes, unary: new Map([...routes.unary].map(([path, handler]) => [path, wrap(path, handler)])) };
}
