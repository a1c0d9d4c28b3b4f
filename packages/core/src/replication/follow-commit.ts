import { applyFact, touchOf } from '../facts.ts';
import type { Governance } from '../governance.ts';
import type { Applying, Unread } from '../journal/index.ts';
import { everything, factOf, nameOf, touchedBy } from '../journal/index.ts';
import { unquoted } from '../kernel/index.ts';
import { preparePolicies } from '../policy/index.ts';
import type { Commit } from '../store.ts';
import type { Interned } from './encoding/codec.ts';
import { nothingInterned } from './encoding/codec.ts';

/**
 * What a reader of commits knows already: the ids of agents, as memory has them. What is kept beside an id, such as whom its
 * charges go to, is found by the very object, and memory holds it once.
 */
export function agentsIn({ directory }: Pick<Governance, 'directory'>): Interned {
  return { ...nothingInterned, agent: (key) => directory.withKey(key)?.record.id };
}

/** Does the slow part of following ahead of it. Undefined if there is none. */
export function prepareToFollow(gov: Governance, commits: readonly Commit[]): Promise<void> | undefined {
  const changes = commits.flatMap(({ steps }) => steps.flatMap((step) => ('change' in step ? [step.change] : [])));
  try {
    return preparePolicies(
      gov,
      changes.flatMap((change) => (change.kind === 'policy_saved' ? [change.saved] : [])),
    );
  } catch {
    // Following it says what is wrong with it.
    return undefined;
  }
}

/**
 * Applies the facts of another gateway's commit. That gateway has judged, written and answered. Nothing is judged or
 * written here.
 *
 * A fact that cannot be read or applied takes those out of service whose state it changes, and nobody else. If it may
 * change everybody's, all are out of service until the next start. Returns what was wrong.
 */
export function followCommit(gov: Governance, { head, steps, unread }: Commit): readonly Unread[] {
  const faults: Unread[] = [...unread];
  const how: Applying = { isHere: false, seq: head.seq, onDurable: (effect) => effect() };
  for (const fact of steps.map(factOf)) {
    try {
      applyFact(gov, fact, how);
    } catch (error) {
      faults.push({ touched: touchedBy(touchOf(fact)), why: `${nameOf(fact)}: ${unquoted(error)}` });
    }
  }
  for (const { touched } of faults) gov.directory.outOfService.missed(touched ?? everything);
  // Any step may have ended a credential. Their rows say which.
  if (faults.length > 0) gov.callers.distrust();
  return faults;
}
