import type { Governance, PolicyProblem, PolicySource } from '@reeve/core';
import { describeProblem, loadPolicies, messageOf, rejectPolicies } from '@reeve/core';
import type { PolicyFiles } from './adapters/files/policy-files.ts';
import { StartError } from './start-error.ts';
import type { Health } from './telemetry/health.ts';
import type { Logger } from './telemetry/logger.ts';

/**
 * Loads the policies, of files and store together, at start, where anything wrong is final, and again whenever the files
 * change, where it is not.
 */
export async function followPolicies(
  gov: Governance,
  files: PolicyFiles,
  health: Health,
  logger: Logger,
): Promise<void> {
  const sources = readable(files);
  if (!Array.isArray(sources)) throw new StartError(describeProblem(sources), 2);
  const isEmpty = sources.length === 0 && gov.library.sources.stored.size === 0;
  const problems = isEmpty ? [] : await loadPolicies(gov, sources);
  if (problems.length > 0) throw new StartError(problems.map(describeProblem).join('\n'), 2);

  let reloading = Promise.resolve();
  let isHeldBack = false;
  const reloadNow = () => {
    reloading = reloading.then(async () => {
      isHeldBack = !(await reload(gov, files, health, logger));
    });
  };
  files.watch(reloadNow);
  gov.library.watch((found) => {
    // What kept the files from being in force may be gone with it.
    if (isHeldBack && found.length === 0) reloadNow();
    else report(found, gov, health, logger);
    isHeldBack ||= found.length > 0;
  });
}

/** Whether what the files hold is in force now. */
async function reload(gov: Governance, files: PolicyFiles, health: Health, logger: Logger): Promise<boolean> {
  try {
    const sources = readable(files);
    const problems = Array.isArray(sources) ? await loadPolicies(gov, sources) : [sources];
    if (!Array.isArray(sources)) await rejectPolicies(gov, problems);
    report(problems, gov, health, logger);
    return problems.length === 0;
  } catch (error) {
    health.set('policy', { status: 'degraded', detail: messageOf(error) });
    logger.error({ err: error }, 'the policies could not be reloaded; those in force stay so');
    return false;
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
