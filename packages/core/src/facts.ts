import { accessFacts } from './access/index.ts';
import { accountsFacts } from './accounts/index.ts';
import { approvalFacts } from './approvals/index.ts';
import { budgetFacts, ratesFacts } from './budget/index.ts';
import { agentFacts, controlFacts, delegationFacts } from './control/index.ts';
import type { Governance } from './governance.ts';
import type { Applying, FactPorts, Meaning, Meanings, Named, Redo } from './journal/index.ts';
import type { Touch, Undo, Write } from './journal/index.ts';
import { eventIdFacts, factsWith, nameOf, restoreFacts, shownOnly } from './journal/index.ts';
import { backupFacts, logFacts } from './logs/index.ts';
import { opsFacts } from './ops/index.ts';
import { policyFacts } from './policy/index.ts';
import { runsFacts } from './runs/index.ts';
import type { Change, DomainEvent } from './store.ts';
import { tenancyFacts } from './tenancy/index.ts';

/** Everything that can happen. Each feature says what its own facts mean. */
export type Fact = Change | DomainEvent;

export const meanings: Meanings<Governance, Fact> = {
  ...accessFacts,
  ...accountsFacts,
  ...agentFacts,
  ...approvalFacts,
  ...backupFacts,
  ...budgetFacts,
  ...controlFacts,
  ...delegationFacts,
  ...eventIdFacts,
  ...logFacts,
  ...opsFacts,
  ...policyFacts,
  ...ratesFacts,
  ...restoreFacts,
  ...runsFacts,
  ...tenancyFacts,
  decision: shownOnly,
};

/** How a journal changes this memory. */
export function factsOn(gov: () => Governance): FactPorts<Fact> {
  return factsWith(meanings, gov);
}

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

/** Applies a fact again that rows of this part may lack. */
export function redoFact(gov: Governance, fact: Fact, part: keyof Redo<unknown, Fact>, how: Applying): void {
  meaningOf(fact).redo?.[part]?.(gov, fact, how);
}

/** Whose state a fact changes. */
export function touchOf(fact: Fact): Touch {
  return meaningOf(fact).touch(fact);
}

/** What a fact does to rows. All stores work from this one description. */
export function writesOf(fact: Fact): readonly Write[] {
  return meaningOf(fact).rows(fact);
}
