import { canonicalJson } from '../audit/canonical-json.ts';
import { draftOf, system } from '../audit/entry.ts';
import type { Policies } from './policies.ts';
import type { PolicyProblem } from './document.ts';
import { describeProblem } from './document.ts';
import type { PolicySource } from './parsed-source.ts';
import { problemsOf } from './parse-policy.ts';
import type { PolicyFeatures } from './condition.ts';
import { putInForce } from './put-in-force.ts';

/**
 * Puts the policies of the files in force, all of them at once and together with those that are stored. Where anything
 * is wrong with any file, nothing changes: what was in force stays so, and the failure is recorded. Resolves with the
 * problems once that is durable. What is stored never holds files back: `inForce` says what becomes of it.
 */
export async function loadPolicies(
  gov: Policies,
  files: readonly PolicySource[],
  features: PolicyFeatures = gov.policyRegistry.features,
): Promise<readonly PolicyProblem[]> {
  const { policyRegistry } = gov;
  if (policyRegistry.reader !== undefined) await policyRegistry.prepareFiles(files);
  const sources = { files: policyRegistry.parseFiles(files, features), stored: policyRegistry.sources.stored };
  const problems = problemsOf(sources.files);
  if (problems.length > 0) {
    await rejectPolicies(gov, problems);
    return problems;
  }

  const at = gov.clock.now();
  const before = gov.policies.version;
  putInForce(gov, sources);
  const { version, documents } = gov.policies;
  const setAside = policyRegistry.inForce.setAside.map(({ problem }) => describeProblem(problem));
  const payload = canonicalJson({
    documents: documents.map(({ name }) => name),
    previous_version: before,
    ...(setAside.length === 0 ? {} : { set_aside: setAside.slice(0, 20) }),
  });
  gov.journal.record(draftOf({ at, eventType: 'PolicyReloaded', actor: system, policyVersion: version, payload }));
  gov.journal.publish({ type: 'policy', at, version, error: null, document: null });
  await gov.journal.committed();
  return [];
}

/** Records that what the sources hold could not be put in force; what was in force stays so. */
export async function rejectPolicies(gov: Policies, problems: readonly PolicyProblem[]): Promise<void> {
  const at = gov.clock.now();
  const described = problems.slice(0, 20).map(describeProblem);
  const error = described[0] ?? '';
  const payload = canonicalJson({ problems: described });
  gov.journal.record(draftOf({ at, eventType: 'PolicyReloadFailed', actor: system, reason: error, payload }));
  gov.journal.publish({ type: 'policy', at, version: gov.policies.version, error, document: null });
  await gov.journal.committed();
}
