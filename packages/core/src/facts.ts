import { accessFacts } from './access/index.ts';
import { accountsFacts } from './accounts/index.ts';
import { approvalFacts } from './approvals/index.ts';
import { budgetFacts } from './budget/index.ts';
import { agentFacts, controlFacts } from './control/index.ts';
import type { Governance } from './governance.ts';
import type { Applying, Meaning, Meanings, Named, Touch, Undo, Write } from './journal/index.ts';
import { eventIdFacts, nameOf, restoreFacts, shownOnly } from './journal/index.ts';
import { backupFacts, logFacts } from './logs/index.ts';
import { opsFacts } from './ops/index.ts';
import { policyFacts } from './policy/index.ts';
import type { Change, DomainEvent } from './store.ts';
import { tenancyFacts } from './tenancy/index.ts';

/** Everything that can happen. Each feature says what its own facts mean. */
export type Fact = Change | DomainEvent;

const meanings: Meanings<Governance, Fact> = {
  ...accessFacts,
  ...accountsFacts,
  ...agentFacts,
  ...approvalFacts,
  ...backupFacts,
  ...budgetFacts,
  ...controlFacts,
  ...eventIdFacts,
  ...logFacts,
  ...opsFacts,
  ...policyFacts,
  ...restoreFacts,
  ...tenancyFacts,
  decision: shownOnly,
};

function meaningOf(fact: Fact): Meaning<Governance, Fact> {
  return meanings[nameOf(fact) as keyof typeof meanings] as Meaning<Governance, Fact>;
}

/** Whether this release knows such a fact. Another release may know more. */
export function isKnownFact(fact: Named): boolean {
  return Object.hasOwn(meanings, nameOf(fact));
}

/** Changes memory by a fact, wherever it happened, and returns how to take that back. */
export function applyFact(gov: Governance, fact: Fact, how: Applying): Undo {
  return meaningOf(fact).apply(gov, fact, how);
}

/** Whose state a fact changes. */
export function touchOf(fact: Fact): Touch {
  return meaningOf(fact).touch(fact);
}

/** What a fact does to rows. All stores work from this one description. */
export function writesOf(fact: Fact): readonly Write[] {
  return meaningOf(fact).rows(fact);
}
