import { canonicalJson } from '../audit/canonical-json.ts';
import { draftOf } from '../audit/draft.ts';
import { system } from '../audit/entry.ts';
import type { Governance } from '../governance.ts';
import type { PolicyProblem } from './document.ts';
import { describeProblem } from './document.ts';
import type { PolicyFeatures, PolicySource } from './parse-policy.ts';
import { parsePolicies } from './parse-policy.ts';
import { PolicySet, policyVersion } from './policy-set.ts';

/**
 * Puts the policies of the sources in force, all of them at once. Where anything is wrong with any source, nothing
 * changes: what was in force stays so, and the failure is recorded. Resolves with the problems once that is durable.
 */
export async function loadPolicies(
  gov: Governance,
  sources: readonly PolicySource[],
  features: PolicyFeatures,
): Promise<readonly PolicyProblem[]> {
  const { documents, problems } = parsePolicies(sources, features);
  if (problems.length > 0) {
    await rejectPolicies(gov, problems);
    return problems;
  }

  const at = gov.clock.now();
  const before = gov.policies;
  const names = documents.map((document) => document.name);
  const texts = sources.map((source) => source.text);
  // A document without a name has that of its file: the same text under another name is another policy.
  gov.policies = new PolicySet(documents, policyVersion(gov.sha256, [...texts, ...names]));
  gov.ledger.policy = gov.policies.budgets;
  gov.journal.onFailure(() => {
    gov.policies = before;
    gov.ledger.policy = before.budgets;
  });
  const payload = canonicalJson({ documents: names, previous_version: before.version });
  const policyVersionNow = gov.policies.version;
  gov.journal.record(
    draftOf({ at, eventType: 'PolicyReloaded', actor: system, policyVersion: policyVersionNow, payload }),
  );
  gov.journal.publish({ type: 'policy', at, version: policyVersionNow, error: null });
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
  gov.journal.publish({ type: 'policy', at, version: gov.policies.version, error });
  await gov.journal.committed();
}
