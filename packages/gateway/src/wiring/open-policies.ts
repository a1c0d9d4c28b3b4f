import type { Governance } from '@reeve/core';
import { ThreadEvaluator } from '../adapters/evaluation/thread-evaluator.ts';
import type { Config } from '../config/settings.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';

export interface EvaluatorPorts {
  readonly gov: Governance;
  readonly metrics: Metrics;
  readonly logger: Logger;
}

/** From here on, what callers write is compiled and evaluated aside from decisions. */
export function startEvaluator(config: Config, { gov, metrics, logger }: EvaluatorPorts): ThreadEvaluator {
  const evaluator = new ThreadEvaluator(gov, {
    deadlineMs: config.evaluationSecs * 1000,
    onEnded: (why) => {
      metrics.evaluationEnded(why);
      logger.warn({ why }, 'an evaluation of policies was ended');
    },
    onFallback: (error) => logger.warn({ err: error }, 'a policy could not be read aside and is read at once'),
  });
  gov.policyRegistry.reader = (source, by) => evaluator.read(source, by);
  return evaluator;
}
