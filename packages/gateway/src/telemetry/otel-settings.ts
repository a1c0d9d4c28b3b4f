import type * as TraceSdk from '@opentelemetry/sdk-trace';
import type { BatchSpanProcessorOptions, Sampler } from '@opentelemetry/sdk-trace';

type Sdk = typeof TraceSdk;

/** The standard variables that the SDK does not read by itself, read by its own functions. */
export interface OtelVariables {
  number(name: string): number | undefined;
  text(name: string): string | undefined;
}

/** How spans are batched before they are sent: `OTEL_BSP_*`. */
export function batching(variables: OtelVariables): Omit<BatchSpanProcessorOptions, 'exporter'> {
  const given = {
    scheduledDelayMillis: variables.number('OTEL_BSP_SCHEDULE_DELAY'),
    exportTimeoutMillis: variables.number('OTEL_BSP_EXPORT_TIMEOUT'),
    maxQueueSize: variables.number('OTEL_BSP_MAX_QUEUE_SIZE'),
    maxExportBatchSize: variables.number('OTEL_BSP_MAX_EXPORT_BATCH_SIZE'),
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

/** Which traces are recorded: `OTEL_TRACES_SAMPLER`. An unknown sampler counts as none, as the standard says. */
export function sampling(sdk: Sdk, variables: OtelVariables): { sampler?: Sampler } {
  const name = variables.text('OTEL_TRACES_SAMPLER') ?? '';
  const root = rootSampler(sdk, name.replace(/^parentbased_/, ''), variables);
  if (root === undefined) return {};
  return { sampler: name.startsWith('parentbased_') ? new sdk.ParentBasedSampler({ root }) : root };
}

function rootSampler(sdk: Sdk, name: string, variables: OtelVariables): Sampler | undefined {
  switch (name) {
    case 'always_on':
      return new sdk.AlwaysOnSampler();
    case 'always_off':
      return new sdk.AlwaysOffSampler();
    case 'traceidratio':
      return new sdk.TraceIdRatioBasedSampler(variables.number('OTEL_TRACES_SAMPLER_ARG') ?? 1);
    default:
      return undefined;
  }
}
