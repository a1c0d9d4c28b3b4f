import type { Span } from '@opentelemetry/api';
import { ROOT_CONTEXT, SpanKind } from '@opentelemetry/api';
import { batching, sampling } from './otel-settings.ts';

/** Opens and closes spans; what is exported, and where to, follows from the standard OTEL_ variables. */
export interface Tracing {
  start(name: string, traceparent: string | undefined, attributes?: Readonly<Record<string, string>>): Span;
  stop(): Promise<void>;
}

/** Loads the OpenTelemetry SDK; only called where tracing is configured, as it is not small. */
export async function startTracing(version: string): Promise<Tracing> {
  const [sdk, { OTLPTraceExporter }, resources, { W3CTraceContextPropagator, getNumberFromEnv, getStringFromEnv }] =
    await Promise.all([
      import('@opentelemetry/sdk-trace'),
      import('@opentelemetry/exporter-trace-otlp-http'),
      import('@opentelemetry/resources'),
      import('@opentelemetry/core'),
    ]);
  const variables = { number: getNumberFromEnv, text: getStringFromEnv };
  const { defaultResource, detectResources, resourceAttributesEnvDetector, serviceNameEnvDetector } = resources;
  const provider = new sdk.TracerProvider({
    // Each over the one before it: what the SDK says of itself, what this is, and what the operator calls it.
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
    // A collector that is gone takes the last spans with it; that is no reason to fail.
    stop: () => provider.shutdown().catch(() => undefined),
  };
}
