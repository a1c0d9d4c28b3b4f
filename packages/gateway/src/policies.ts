import type { Governance, PolicyProblem, PolicySource } from '@reeve/core';
import { describeProblem, loadPolicies, messageOf, rejectPolicies } from '@reeve/core';
import { conditionCompiler } from './adapters/cel/compile-condition.ts';
import type { PolicyFiles } from './adapters/files/policy-files.ts';
import { StartError } from './start-error.ts';
import type { Health } from './telemetry/health.ts';
import type { Logger } from './telemetry/logger.ts';

const features = { compileCondition: conditionCompiler() };

/** Loads the policies at start, where anything wrong is final, and again whenever the files change, where it is not. */
export async function followPolicies(
  gov: Governance,
  files: PolicyFiles,
  health: Health,
  logger: Logger,
): Promise<void> {
  const sources = readable(files);
  if (!Array.isArray(sources)) throw new StartError(describeProblem(sources), 2);
  const problems = sources.length === 0 ? [] : await loadPolicies(gov, sources, features);
  if (problems.length > 0) throw new StartError(problems.map(describeProblem).join('\n'), 2);

  let reloading = Promise.resolve();
  files.watch(() => {
    reloading = reloading.then(() => reload(gov, files, health, logger));
  });
}

async function reload(gov: Governance, files: PolicyFiles, health: Health, logger: Logger): Promise<void> {
  try {
    const sources = readable(files);
    const problems = Array.isArray(sources) ? await loadPolicies(gov, sources, features) : [sources];
    if (!Array.isArray(sources)) await rejectPolicies(gov, problems);
    report(problems, gov, health, logger);
  } catch (error) {
    health.set('policy', { status: 'degraded', detail: messageOf(error) });
    logger.error({ err: error }, 'the policies could not be reloaded; those in force stay so');
  }
}

/** What the files hold, or why they cannot be read. */
function readable(files: PolicyFiles): PolicySource[] | PolicyProblem {
  try {
    return files.read();
  } catch (error) {
    return { file: files.path, line: 1, column: 1, message: `cannot be read: ${messageOf(error)}` };
  }
}

function report(problems: readonly PolicyProblem[], gov: Governance, health: Health, logger: Logger): void {
  if (problems.length === 0) {
    health.ok('policy');
    logger.info(
      { policy_version: gov.policies.version, documents: gov.policies.documents.length },
      'policies reloaded',
    );
    return;
  }
  const described = problems.map(describeProblem);
  health.set('policy', { status: 'degraded', detail: described[0] ?? '' });
  logger.error({ problems: described }, 'the policies have errors; those in force stay so');
}
