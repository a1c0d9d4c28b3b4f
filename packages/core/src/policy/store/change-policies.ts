import type { Policies } from '../policies.ts';
import { followPolicies } from './follow-policy.ts';
import { withWriter } from './writers-from-before.ts';

/**
 * Runs a change of stored documents, which is made in one go, on the newest of what gateways on the same store have
 * made of them, and returns once it is durable.
 */
export async function changePolicies<Result>(gov: Policies, change: () => Result): Promise<Result> {
  const result = await gov.policyRegistry.store.alone(async (newest) => {
    const { policyRegistry } = gov;
    const news = newest.filter(({ name, version }) => version > (policyRegistry.newest(name)?.version ?? 0));
    await policyRegistry.prepare(
      news.map((each) => withWriter(gov, each)),
      null,
    );
    followPolicies(gov, newest);
    const changed = change();
    await gov.journal.committed();
    return changed;
  });
  gov.policyRegistry.changed();
  return result;
}
