import type { Access } from '../access/index.ts';
import { followAccess } from '../access/index.ts';
import { followAccounts } from '../accounts/index.ts';
import { followApproval } from '../approvals/index.ts';
import type { BalanceKeeper, BudgetEvent } from '../budget/index.ts';
import { followAgent, followControl } from '../control/index.ts';
import { followUse } from '../decision/index.ts';
import type { Governance } from '../governance.ts';
import type { Unread } from '../journal/index.ts';
import { everything, touchedBy } from '../journal/index.ts';
import { agentKey, unquoted } from '../kernel/index.ts';
import { followAlert, followOp, followOpChange } from '../ops/index.ts';
import { followPolicy, preparePolicies } from '../policy/index.ts';
import type { Change, Commit, DomainEvent } from '../store.ts';
import { followSuspension, followUses, isAgentChange } from '../tenancy/index.ts';
import { touchOf } from './touch-of.ts';

/** The state that follows other gateways. */
export interface Followed {
  readonly gov: Governance;
  readonly access: Access;
  readonly balances: Pick<BalanceKeeper, 'followSave'>;
}

/** Does ahead what would take long while a commit is followed. Undefined if there is nothing. */
export function prepareToFollow({ gov }: Pick<Followed, 'gov'>, commits: readonly Commit[]): Promise<void> | undefined {
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
 * Brings memory in step with a commit of another gateway on the same log. The other gateway has judged, written and
 * told its callers. Here nothing is judged and nothing is written: every step only says how things are now.
 *
 * A step that cannot be read or followed takes those out of service whose state it changes, and nobody else. If that
 * may be everybody's, all are, until a start reads everything. Returns what was wrong.
 */
export function followCommit(followed: Followed, { head, steps, unread }: Commit): readonly Unread[] {
  const faults: Unread[] = [...unread];
  for (const [at, step] of steps.entries()) {
    try {
      if ('change' in step) followChange(followed, step.change, head.seq);
      else if (!isOvertaken(steps, at, step.event)) followEvent(followed.gov, step.event, head.seq);
    } catch (error) {
      faults.push({ touched: touchedBy(touchOf(step)), why: `step ${at + 1}: ${unquoted(error)}` });
    }
  }
  for (const { touched } of faults) followed.gov.directory.outOfService.add(touched ?? everything);
  // Any step may have ended a credential. Their rows say which.
  if (faults.length > 0) followed.access.callers.distrust();
  return faults;
}

/** How far the decision is from the event that a new operation is known. */
const nearby = 4;

/** A new operation is mostly decided at once. Then the state after the decision says all. */
function isOvertaken(steps: Commit['steps'], at: number, event: DomainEvent): boolean {
  if (event.type !== 'ops_change' || event.op.state !== 'pending' || event.op.digest !== '') return false;
  const { opId } = event.op;
  for (let next = at + 1; next <= at + nearby; next++) {
    const step = steps[next];
    if (step === undefined || !('event' in step) || step.event.type !== 'ops_change') continue;
    return step.event.op.opId === opId && agentKey(step.event.agent) === agentKey(event.agent);
  }
  return false;
}

function followChange({ gov, access, balances }: Followed, change: Change, seq: number): void {
  if (isAgentChange(change)) {
    followAgent(gov, change);
    return;
  }
  switch (change.kind) {
    case 'api_key_saved':
    case 'api_key_used':
    case 'signing_key_saved':
    case 'signing_key_removed':
      followAccess(access, change);
      break;
    case 'owed_entry_recorded':
    case 'rights_changed':
      followAccounts(access, change);
      break;
    case 'agent_used':
    case 'agent_uses_removed':
      followUses(gov, change);
      break;
    case 'policy_saved':
      followPolicy(gov, change.saved);
      break;
    case 'receipt_saved':
    case 'control_sequence_saved':
    case 'bulk_control_saved':
    case 'receipts_removed':
    case 'run_control_saved':
    case 'run_control_used':
    case 'run_control_removed':
    case 'departure_saved':
    case 'departure_removed':
      followControl(gov, change);
      break;
    case 'suspension_saved':
    case 'suspension_removed':
      followSuspension(gov.directory.suspensions, change);
      break;
    case 'approval_saved':
    case 'grant_saved':
    case 'approvals_removed':
      followApproval(gov, change);
      break;
    case 'op_saved':
    case 'op_removed':
    case 'op_asked':
    case 'ops_replay_from':
    case 'ops_forgotten':
      followOpChange(gov, change, seq);
      break;
    case 'balances_saved':
      balances.followSave(change);
      break;
    case 'backup_taken':
    case 'entries_removed':
    case 'event_ids_reserved':
    case 'policy_set_saved':
    case 'restore_recorded':
      // Memory holds nothing of these.
      break;
  }
}

function followEvent(gov: Governance, event: DomainEvent, seq: number): void {
  if (event.type === 'ops_change') {
    if (followOp(gov, event, seq)) followUse(gov, event.op);
  } else if (event.type === 'budget') followBudget(gov, event);
  else if (event.type === 'audit_alert') {
    if (event.movedBackTo === undefined) followAlert(gov, event);
    else gov.ledger.followBack(event.movedBackTo);
  }
}

function followBudget({ ledger }: Governance, { of, period, percent, amountMicros, day }: BudgetEvent): void {
  if (day === undefined) return;
  if (percent !== null) ledger.followNotice(of, period, percent, day);
  if (amountMicros !== undefined) ledger.followCorrection(of, period, amountMicros, day);
}
