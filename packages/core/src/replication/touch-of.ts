import { agentKey } from '../kernel/index.ts';
import type { Step, Touch } from '../journal/index.ts';
import { bindingOfName } from '../policy/index.ts';
import type { Change, DomainEvent } from '../store.ts';
import { agentOfChange, isAgentChange } from '../tenancy/index.ts';

/**
 * Whose state a step changes. Decisions of other gateways that rest on it are made again. What only shows, such as a
 * decision's event, or what only the store needs, such as a saved row, touches nobody.
 */
export function touchOf(step: Step<Change, DomainEvent>): Touch {
  return 'change' in step ? touchOfChange(step.change) : touchOfEvent(step.event);
}

function touchOfChange(change: Change): Touch {
  if (change.kind === 'agent_controlled') return { agent: agentKey(change.id) };
  // Lineage and topology of others depend on who is registered.
  if (isAgentChange(change)) return { org: agentOfChange(change).orgId };
  switch (change.kind) {
    case 'api_key_saved':
      return withinOrg(change.key.orgId);
    case 'policy_saved':
      return withinOrg(bindingOfName(change.saved.name)?.orgId ?? null);
    case 'bulk_control_saved':
      return withinOrg(change.bulk.orgId);
    // No decision rests on it, but what is written next about the agent must contain it.
    case 'agent_used':
      return { agent: agentKey(change.use.id) };
    case 'run_control_saved':
    case 'run_control_removed':
      return withinOrg(change.control.orgId);
    case 'departure_saved':
    case 'departure_removed':
      return withinOrg(change.departure.orgId);
    case 'suspension_saved':
    case 'suspension_removed':
      return withinOrg(change.suspension.orgId);
    case 'op_asked':
      return { agent: agentKey(change.op.agent) };
    case 'approval_saved':
      return { agent: agentKey(change.approval.agent) };
    case 'grant_saved':
      return { agent: agentKey(change.grant.agent) };
    case 'receipt_saved':
      return { agent: agentKey(change.receipt.agent) };
    case 'control_sequence_saved':
      return { agent: agentKey(change.sequence.agent) };
    case 'agent_uses_removed':
    case 'api_key_used':
    case 'approvals_removed':
    case 'backup_taken':
    case 'balances_saved':
    case 'entries_removed':
    case 'event_ids_reserved':
    case 'op_removed':
    case 'op_saved':
    case 'ops_forgotten':
    case 'ops_replay_from':
    case 'owed_entry_recorded':
    case 'policy_set_saved':
    case 'receipts_removed':
    case 'restore_recorded':
    // Turns ask for their callers by themselves.
    case 'rights_changed':
    case 'run_control_used':
    case 'signing_key_removed':
    case 'signing_key_saved':
      return undefined;
  }
}

function touchOfEvent(event: DomainEvent): Touch {
  switch (event.type) {
    case 'ops_change':
      return { agent: agentKey(event.agent) };
    case 'audit_alert':
      if (event.movedBackTo !== undefined) return 'everything';
      // Memory of other gateways holds nothing of these.
      if (event.alert === 'impersonation' || event.alert === 'tool_definition_changed') return undefined;
      return event.agent === null ? undefined : { agent: agentKey(event.agent) };
    case 'agent':
    case 'approval':
    case 'budget':
    case 'decision':
    case 'policy':
    case 'suspension':
      return undefined;
  }
}

function withinOrg(orgId: string | null): Touch {
  return orgId === null ? 'everything' : { org: orgId };
}
