import type { Policies, PoliciesState, PolicyProblem, PolicySource } from '@reeve/core';
import { describeProblem, loadPolicies, messageOf, rejectPolicies } from '@reeve/core';
import { StartError } from '../start-error.ts';
import type { Health } from '../telemetry/health.ts';
import type { Logger } from '../telemetry/logger.ts';

/** The place that policies are read from and watched in. */
export interface PolicyFolder {
  readonly path: string;
  read(): PolicySource[];
  watch(changed: () => void): void;
}

/**
 * Loads the policies of files and store at start, where a mistake is final, and again whenever the files change, where
 * it is not.
 */
export async function followPolicyFiles(
  gov: PoliciesState,
  files: PolicyFolder,
  health: Health,
  logger: Logger,
): Promise<void> {
  const sources = readable(files);
  if (!Array.isArray(sources)) throw new StartError(describeProblem(sources), 2);
  const isEmpty = sources.length === 0 && gov.policyRegistry.sources.stored.size === 0;
  const problems = isEmpty ? [] : await loadPolicies(gov, sources);
  if (problems.length > 0) throw new StartError(problems.map(describeProblem).join('\n'), 2);

  let reloading = Promise.resolve();
  let held: readonly PolicyProblem[] = [];
  if (gov.policyRegistry.inForce.setAside.length > 0) report(held, gov, health, logger);
  files.watch(() => {
    reloading = reloading.then(async () => {
      held = await reload(gov, files, health, logger);
    });
  });
  gov.policyRegistry.watch(() => report(held, gov, health, logger));
}

/** Returns what keeps the files from being in force now. */
async function reload(
  gov: PoliciesState,
  files: PolicyFolder,
  health: Health,
  logger: Logger,
): Promise<readonly PolicyProblem[]> {
  try {
    const sources = readable(files);
    const problems = Array.isArray(sources) ? await loadPolicies(gov, sources) : [sources];
    if (!Array.isArray(sources)) await rejectPolicies(gov, problems);
    report(problems, gov, health, logger);
    return problems;
  } catch (error) {
    health.set('policy', { status: 'degraded', detail: messageOf(error) });
    logger.error({ err: error }, 'the policies could not be reloaded; those in force stay so');
    return [{ file: files.path, line: 1, column: 1, message: messageOf(error) }];
  }
}

/** The content of the files, or why they cannot be read. */
function readable(files: PolicyFolder): PolicySource[] | PolicyProblem {
  try {
    return files.read();
  } catch (error) {
    return { file: files.path, line: 1, column: 1, message: `cannot be read: ${messageOf(error)}` };
  }
}

/** Anybody can read readiness, so it names no document, whose name a tenant may have chosen; the log does. */
function report(problems: readonly PolicyProblem[], gov: Policies, health: Health, logger: Logger): void {
  const { setAside } = gov.policyRegistry.inForce;
  if (problems.length > 0) {
    const described = problems.map(describeProblem);
    health.set('policy', { status: 'degraded', detail: described[0] ?? '' });
    logger.error({ problems: described }, 'the policies have errors; those in force stay so');
    return;
  }
  const loaded = { policy_version: gov.policies.version, documents: gov.policies.documents.length };
  if (setAside.length === 0) {
    health.ok('policy');
    logger.info(loaded, 'policies reloaded');
    return;
  }
  health.set('policy', { status: 'degraded', detail: setAside[0]?.message ?? '' });
  const described = setAside.map(({ problem }) => describeProblem(problem));
  logger.error({ ...loaded, problems: described }, 'stored policies are set aside');
}
