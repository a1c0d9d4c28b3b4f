import { canonicalJson } from '../audit/canonical-json.ts';
import { draftOf } from '../audit/draft.ts';
import { system } from '../audit/entry.ts';
import type { Governance } from '../governance.ts';
import type { PolicyProblem } from './document.ts';
import { describeProblem } from './document.ts';
import type { PolicySource } from './parse-policy.ts';
import type { PolicyFeatures } from './parse-rule.ts';
import { putInForce } from './put-in-force.ts';
import { problemsWith } from './store/policy-library.ts';

/**
 * Puts the policies of the files in force, all of them at once and together with those that are stored. Where anything
 * is wrong with any of them, nothing changes: what was in force stays so, and the failure is recorded. Resolves with the
 * problems once that is durable.
 */
export async function loadPolicies(
  gov: Governance,
  files: readonly PolicySource[],
  features: PolicyFeatures = gov.library.features,
): Promise<readonly PolicyProblem[]> {
  const { library } = gov;
  if (library.reader !== undefined) await library.prepareFiles(files);
  const sources = { files: library.parseFiles(files, features), stored: library.with(library.waiting) };
  const problems = problemsWith(sources);
  if (problems.length > 0) {
    await rejectPolicies(gov, problems);
    return problems;
  }

  const at = gov.clock.now();
  const before = gov.policies.version;
  putInForce(gov, sources);
  const { version, documents } = gov.policies;
  const payload = canonicalJson({ documents: documents.map(({ name }) => name), previous_version: before });
  gov.journal.record(draftOf({ at, eventType: 'PolicyReloaded', actor: system, policyVersion: version, payload }));
  gov.journal.publish({ type: 'policy', at, version, error: null, document: null });
  await gov.journal.committed();
  return [];
}

/** Records that what the sources hold could not be put in force; what was in force stays so. */
export async function rejectPolicies(gov: Governance, problems: readonly PolicyProblem[]): Promise<void> {
  const at = gov.clock.now();
  const described = problems.slice(0, 20).map(describeProblem);
  const error = described[0] ?? '';
  const payload = canonicalJson({ problems: described });
  gov.journal.record(draftOf({ at, eventType: 'PolicyReloadFailed', actor: system, reason: error, payload }));
  gov.journal.publish({ type: 'policy', at, version: gov.policies.version, error, document: null });
  await gov.journal.committed();
}
