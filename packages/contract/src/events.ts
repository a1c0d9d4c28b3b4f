import { z } from 'zod';
import { approvalJson } from './http/routes/approvals.ts';
import { suspensionTold } from './http/routes/suspensions.ts';
import { opJson, opState, timestamp, usd } from './http/schemas.ts';

/** Every event type that a stream can filter by. */
export const eventTypes = [
  'ops_change',
  'decision',
  'approval',
  'budget',
  'agent',
  'audit_alert',
  'policy',
  'suspension',
] as const;

export type EventType = (typeof eventTypes)[number];

/** The members of every event. The three tiers are null if empty, or if the event belongs to nobody. */
const envelope = {
  id: z.int(),
  agent_id: z.string().nullable(),
  org_id: z.string().nullable(),
  team_id: z.string().nullable(),
  timestamp,
};

const opsChange = z.object({
  ...envelope,
  event_type: z.literal('ops_change'),
  payload: z.object({ op_id: z.string(), state: opState, updated_at: timestamp, op: opJson }),
});

const decision = z.object({
  ...envelope,
  event_type: z.literal('decision'),
  payload: z.object({
    /** Null if the check was refused without an operation. */
    op_id: z.string().nullable(),
    decision: z.enum(['allow', 'deny', 'pending']),
    reason: z.string(),
    policy_rule: z.string(),
  }),
});

const approval = z.object({
  ...envelope,
  event_type: z.literal('approval'),
  /** `verdict`: one of several required verdicts. */
  payload: z.object({
    change: z.enum(['requested', 'verdict', 'approved', 'rejected', 'expired', 'cancelled']),
    approval: approvalJson,
  }),
});

const agent = z.object({
  ...envelope,
  event_type: z.literal('agent'),
  payload: z.object({ change: z.enum(['registered', 'deregistered', 'suspended', 'resumed']) }),
});

/** Besides `alert`, the payload has its subject, with the names of the audit log. */
const auditAlert = z.object({
  ...envelope,
  event_type: z.literal('audit_alert'),
  payload: z.looseObject({
    alert: z.enum([
      'control_unconfirmed',
      'control_failed',
      'op_stale',
      'op_back',
      'reservation_released',
      'budget_overrun',
      'clock_set_back',
      'tool_definition_changed',
      'impersonation',
      'forward_gap',
    ]),
  }),
});

const budget = z.object({
  ...envelope,
  event_type: z.literal('budget'),
  /** The used `percent` of a cap. Null if a charge that would exceed the cap was refused, or if spend was corrected. */
  payload: z.object({
    change: z.enum(['approached', 'exceeded', 'corrected']),
    tier: z.enum(['global', 'org', 'team', 'agent']),
    period: z.enum(['day', 'month']),
    percent: z.int().nullable(),
    limit_usd: usd.nullable(),
    total_usd: usd,
  }),
});

const policy = z.object({
  ...envelope,
  event_type: z.literal('policy'),
  /** The version in force. `error` says why the loaded policies are not in force. */
  payload: z.object({
    version: z.string(),
    error: z.string().nullable(),
    /** The stored document that changed. Null if files changed. */
    document: z
      .object({
        name: z.string(),
        version: z.int(),
        scope: z.string(),
        change: z.enum(['put', 'rolled_back', 'deleted']),
      })
      .nullable(),
  }),
});

const suspension = z.object({
  ...envelope,
  event_type: z.literal('suspension'),
  payload: z.object({ change: z.enum(['suspended', 'resumed']), suspension: suspensionTold }),
});

/** An event in wire form. */
export const eventSchema = z
  .discriminatedUnion('event_type', [opsChange, decision, approval, budget, agent, auditAlert, policy, suspension])
  .meta({ id: 'Event' });

export type ReeveEvent = z.infer<typeof eventSchema>;

/** The first message of every stream: the id of the newest event. */
export const helloSchema = z.object({ event_type: z.literal('hello'), cursor: z.int() });

/** The requested events are no longer available. */
export const gapSchema = z.object({ event_type: z.literal('gap') });

/** Every message that a stream can send. */
export const streamMessageSchema = z.union([helloSchema, gapSchema, eventSchema]);

export type StreamMessage = z.infer<typeof streamMessageSchema>;

/** Why the gateway closes a WebSocket. */
export const closeCodes = {
  /** The gateway is shutting down. */
  goingAway: 1001,
  /** The client reads too slowly. It can resume from its cursor. */
  tooSlow: 1013,
  /** The credential was revoked or has expired. */
  unauthenticated: 4401,
} as const;
