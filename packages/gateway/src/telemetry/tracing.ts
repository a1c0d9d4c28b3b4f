import type { Span } from '@opentelemetry/api';
import { batching, sampling } from './otel-settings.ts';

/** Opens and closes spans. The standard OTEL_ variables say what is exported, and where to. */
export interface Tracing {
  start(name: string, traceparent: string | undefined, attributes?: Readonly<Record<string, string>>): Span;
  /** Marks what the span is about as failed. */
  fail(span: Span): void;
  stop(): Promise<void>;
}

/** Loads the OpenTelemetry SDK. Only called if tracing is configured, because the SDK is large. */
export async function startTracing(version: string): Promise<Tracing> {
  const [api, sdk, { OTLPTraceExporter }, resources, otel] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/sdk-trace'),
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/resources'),
    import('@opentelemetry/core'),
  ]);
  const { ROOT_CONTEXT, SpanKind, SpanStatusCode } = api;
  const { W3CTraceContextPropagator, getNumberFromEnv, getStringFromEnv } = otel;
  const variables = { number: getNumberFromEnv, text: getStringFromEnv };
  const { defaultResource, detectResources, resourceAttributesEnvDetector, serviceNameEnvDetector } = resources;
  const provider = new sdk.TracerProvider({
    // Each overrides the one before: what the SDK detects, what this is, and what the operator calls it.
    resource: defaultResource()
      .merge(resources.resourceFromAttributes({ 'service.name': 'reeve', 'service.version': version }))
      .merge(detectResources({ detectors: [resourceAttributesEnvDetector, serviceNameEnvDetector] })),
    spanProcessors: [new sdk.BatchSpanProcessor({ exporter: new OTLPTraceExporter(), ...batching(variables) })],
    ...sampling(sdk, variables),
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
    fail: (span) => {
      span.setStatus({ code: SpanStatusCode.ERROR });
    },
    // If the collector is gone, the last spans are lost; that is no reason to fail.
    stop: () => provider.shutdown().catch(() => undefined),
  };
}
