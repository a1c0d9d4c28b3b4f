import { join } from 'node:path';
import type { Governance } from '@reeve/core';
import { ThreadEvaluator } from '../adapters/evaluation/thread-evaluator.ts';
import { ThreadResultJudge } from '../adapters/evaluation/thread-result-judge.ts';
import { PolicyFiles } from '../adapters/files/policy-files.ts';
import { followPolicyFiles } from '../background/follow-policy-files.ts';
import type { PolicyEvaluator } from '../evaluation/policy-evaluator.ts';
import type { WiringContext } from './wiring-context.ts';

/**
 * Opens the policy files, puts them in force and watches them. Then it opens the threads that evaluate what callers
 * write.
 */
export async function openPolicies(context: WiringContext, gov: Governance): Promise<PolicyEvaluator> {
  const { config, health, logger, opened } = context;
  const files = new PolicyFiles(config.policy ?? join(config.dataDir, 'policies'), config.policy === undefined);
  opened.defer(() => files.close(), 'the watch over policy files');
  await followPolicyFiles(gov, files, health, logger);
  return openEvaluator(context, gov);
}

/** Judges large results apart from decisions. */
export function openResultJudge(
  { config, logger, metrics, opened }: WiringContext,
  gov: Governance,
): ThreadResultJudge {
  const judge = new ThreadResultJudge(gov, {
    deadlineMs: config.evaluationSecs * 1000,
    onEnded: (why) => {
      metrics.evaluationEnded(why);
      logger.warn({ why }, 'the judgement of a result was ended');
    },
  });
  opened.defer(() => judge.close(), 'results that are judged');
  return judge;
}

/** From here on, what callers write is compiled and evaluated apart from decisions. */
function openEvaluator({ config, logger, metrics, opened }: WiringContext, gov: Governance): PolicyEvaluator {
  const evaluator = new ThreadEvaluator(gov, {
    deadlineMs: config.evaluationSecs * 1000,
    onEnded: (why) => {
      metrics.evaluationEnded(why);
      logger.warn({ why }, 'an evaluation of policies was ended');
    },
    onFallback: (error) => logger.warn({ err: error }, 'a policy could not be read aside and is read at once'),
  });
  opened.defer(() => evaluator.close(), 'evaluations');
  gov.policyRegistry.reader = (source, by) => evaluator.read(source, by);
  return evaluator;
}
