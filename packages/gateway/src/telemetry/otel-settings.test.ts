import * as sdk from '@opentelemetry/sdk-trace';
import { describe, expect, test } from 'vitest';
import type { OtelVariables } from './otel-settings.ts';
import { batching, sampling } from './otel-settings.ts';

function variables(given: Record<string, string>): OtelVariables {
  return {
    number: (name) => (given[name] === undefined ? undefined : Number(given[name])),
    text: (name) => given[name],
  };
}

describe('the standard variables', () => {
  test('say how spans are gathered, and leave alone what they do not say', () => {
    expect(batching(variables({}))).toEqual({});
    expect(batching(variables({ OTEL_BSP_SCHEDULE_DELAY: '50', OTEL_BSP_MAX_QUEUE_SIZE: '7' }))).toEqual({
      scheduledDelayMillis: 50,
      maxQueueSize: 7,
    });
    expect(batching(variables({ OTEL_BSP_EXPORT_TIMEOUT: '1', OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '2' }))).toEqual({
      exportTimeoutMillis: 1,
      maxExportBatchSize: 2,
    });
  });

  test.each([
    ['always_on', 'AlwaysOnSampler'],
    ['always_off', 'AlwaysOffSampler'],
    ['traceidratio', 'TraceIdRatioBased{0.25}'],
    ['parentbased_always_on', 'ParentBased{root=AlwaysOnSampler'],
    ['parentbased_always_off', 'ParentBased{root=AlwaysOffSampler'],
    ['parentbased_traceidratio', 'ParentBased{root=TraceIdRatioBased{0.25}'],
  ])('%s chooses %s', (name, chosen) => {
    const given = variables({ OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: '0.25' });
    expect(sampling(sdk, given).sampler?.toString()).toContain(chosen);
  });

  test('leave the choice of a sampler to the SDK where they name none that is known', () => {
    for (const given of [{}, { OTEL_TRACES_SAMPLER: 'xray' }, { OTEL_TRACES_SAMPLER: 'parentbased_xray' }]) {
      expect(sampling(sdk, variables(given))).toEqual({});
    }
  });
});
