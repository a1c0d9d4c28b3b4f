import type { ReeveEvent } from '@reeve/contract/events';
import type { DomainEvent } from '@reeve/core';
import { agentOf, describeScope, timestamp, usdOfMicros } from '@reeve/core';
import { approvalJson } from '../http/present-approval.ts';
import { opJson } from '../http/present-op.ts';
import { suspensionTold } from '../http/present-suspension.ts';

/** How an event looks on the wire. */
export function eventJson(id: number, event: DomainEvent): ReeveEvent {
  const agent = agentOf(event);
  const envelope = {
    id,
    agent_id: orNull(agent?.agentId),
    org_id: orNull(agent?.orgId),
    team_id: orNull(agent?.teamId),
    timestamp: timestamp(event.at),
  };
  switch (event.type) {
    case 'ops_change': {
      const op = opJson(event.op);
      const { op_id, state, updated_at } = op;
      return { ...envelope, event_type: event.type, payload: { op_id, state, updated_at, op } };
    }
    case 'decision': {
      const { opId, decision, reason, policyRule } = event;
      const payload = { op_id: orNull(opId), decision, reason, policy_rule: policyRule };
      return { ...envelope, event_type: event.type, payload };
    }
    case 'approval': {
      const { change, approval } = event;
      return { ...envelope, event_type: event.type, payload: { change, approval: approvalJson(approval) } };
    }
    case 'budget': {
      const { of, change, period, percent, limitMicros, totalMicros } = event;
      const money = {
        limit_usd: limitMicros === null ? null : usdOfMicros(limitMicros),
        total_usd: usdOfMicros(totalMicros),
      };
      return { ...envelope, event_type: event.type, payload: { change, tier: of.tier, period, percent, ...money } };
    }
    case 'agent':
      return { ...envelope, event_type: event.type, payload: { change: event.change } };
    case 'audit_alert':
      return { ...envelope, event_type: event.type, payload: { ...event.details, alert: event.alert } };
    case 'suspension': {
      const { change, suspension } = event;
      return { ...envelope, event_type: event.type, payload: { change, suspension: suspensionTold(suspension) } };
    }
    case 'policy': {
      const { version, error, document } = event;
      const changed = document === null ? null : { ...document, scope: describeScope(document.scope) };
      return { ...envelope, event_type: event.type, payload: { version, error, document: changed } };
    }
  }
}

function orNull(text: string | undefined): string | null {
  return text === undefined || text === '' ? null : text;
}
