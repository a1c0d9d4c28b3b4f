import { z } from 'zod';
import { bounds } from '../../bounds.ts';
import type { ContextKind } from '../action-context.ts';
import { contextSchema, contextShapes } from '../action-context.ts';
import type { Route } from '../route.ts';
import { alsoOneOf, id, idFilter, idOrEmpty, label, timestamp } from '../schemas.ts';

const effect = z.enum(['allow', 'deny', 'require_approval', 'mask']);
const resultEffect = z.enum(['allow', 'deny', 'mask']);
const decision = z.enum(['allow', 'deny', 'pending']);

const actions = Object.keys(contextShapes) as ContextKind[];

/** Matches any of the texts in any case. Spelled out, because a schema has no flags. */
function anyCaseOf(texts: readonly string[]): RegExp {
  const letters = (text: string) => text.replaceAll(/[a-z]/g, (letter) => `[${letter}${letter.toUpperCase()}]`);
  return new RegExp(`^(?:${texts.map(letters).join('|')})$`);
}

/** No action has this many members. */
const mostInContext = 16;

/** The type of the action decides what the context may hold. */
const contextByType = actions.map((action) => ({
  properties: { action_type: { pattern: anyCaseOf([action]).source }, context: contextSchema(action) },
}));

/** A rule that was considered, and why it did or did not match. */
function consideredOf<RuleEffect extends z.ZodType>(ruleEffect: RuleEffect) {
  return z.object({
    document: z.string(),
    rule: z.string(),
    effect: ruleEffect,
    matched: z.boolean(),
    why: z.string(),
    /** Its document is only observed and decides nothing. */
    observed: z.boolean(),
  });
}

const consideredJson = consideredOf(effect);

/** How often masks found something, by what found it. */
const countsJson = z.record(z.string(), z.int());

/** What becomes of a supposed result. */
const resultJson = z.object({
  effect: resultEffect,
  reason: z.string(),
  policy_rule: z.string(),
  /** The result with what masks find replaced. Null if it passes as it is, or not at all. */
  masked: z.string().nullable(),
  counts: countsJson,
  /** The labels that the rules on the result would give. */
  labels: z.array(z.string()),
  rules: z.array(consideredOf(resultEffect)),
});

/** A result of the operation that was judged, as the log has it. */
const judgedResultJson = z.object({
  at: timestamp,
  effect: resultEffect,
  reason: z.string(),
  policy_rule: z.string(),
  policy_version: z.string(),
  is_error: z.boolean(),
  /** Bytes. */
  size: z.int(),
  counts: countsJson,
  labels: z.array(z.string()),
});

/** The JSON form of a check. The context uses gRPC names, either under the name of its kind or bare. */
const request = {
  /** Org and team default to those that the credential is bound to, or to none. */
  agent: z.strictObject({ org_id: idOrEmpty.optional(), team_id: idOrEmpty.optional(), agent_id: id }),
  action_type: z
    .string()
    .regex(anyCaseOf(actions), `must be one of ${actions.join(', ')}`)
    .meta({ examples: ['tool_call', 'LLM_CALL'], maxLength: bounds.label }),
  context: z.record(z.string().max(bounds.name), z.unknown()).meta({ maxProperties: mostInContext }).optional(),
  estimated_cost_micros: z.int().min(0).nullish(),
  run_id: z.string().max(bounds.runId).default(''),
  /** What its run is supposed to bear, if not what it does. */
  run: z.strictObject({ labels: z.array(label).max(bounds.labels) }).nullish(),
  /** Whether the caller would pass on arguments that rules have rewritten. One that would not is denied where they have. */
  can_rewrite: z.boolean().default(true),
  /** Whether the caller would have prompts masked. One that would not is denied where rules mask them. */
  can_mask_prompt: z.boolean().default(true),
  /** What the call is supposed to bring back, as it would be sent: JSON, or any text. It is judged if the call is not denied. */
  result: z.string().max(bounds.body).nullish(),
  /** Whether that is an error of the tool. No rule looks at it. */
  is_error: z.boolean().default(false),
  /** The user for whom the agent would act. What is left out is as if the token did not say it. */
  user: z
    .strictObject({
      issuer: z.string().max(bounds.text).optional(),
      sub: z.string().min(1).max(bounds.name).optional(),
      email: z.string().max(bounds.name).optional(),
      groups: z.array(z.string().max(bounds.name)).max(bounds.batch).optional(),
      claims: z.record(z.string().max(bounds.name), z.unknown()).meta({ maxProperties: bounds.batch }).optional(),
    })
    .nullish(),
};

const candidate = {
  /** YAML, one or many documents. */
  candidate: z
    .string()
    .max(bounds.policySource)
    .meta({ examples: ['# one or many documents\n'] }),
  /** Whether the candidate joins the policies in force and replaces documents of the same name, or stands alone. */
  merge: z.boolean().default(false),
};

const changedJson = z.object({
  seq: z.int(),
  at: timestamp,
  op_id: z.string(),
  org_id: z.string(),
  team_id: z.string(),
  agent_id: z.string(),
  action_type: z.string(),
  resource: z.string(),
  was: decision,
  was_rule: z.string(),
  would_be: decision,
  would_be_rule: z.string(),
});

/** A line of a backtest answer. */
export const backtestLine = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('progress'),
    examined: z.int(),
    /** The total number, if known. */
    total: z.int().nullable(),
    changed: z.int(),
    /** The progress through the requested days, from 0 to 1. */
    share: z.number(),
  }),
  z.object({ type: z.literal('change'), change: changedJson }),
  z.object({
    type: z.literal('result'),
    from: timestamp,
    to: timestamp,
    examined: z.int(),
    /** Decisions whose record cannot be judged again. */
    skipped: z.int(),
    changed: z.int(),
    by_outcome: z.array(z.object({ was: decision, would_be: decision, count: z.int() })),
    by_rule: z.array(z.object({ rule: z.string(), was: decision, would_be: decision, count: z.int() })),
    by_agent: z.array(
      z.object({
        org_id: z.string(),
        team_id: z.string(),
        agent_id: z.string(),
        was: decision,
        would_be: decision,
        count: z.int(),
      }),
    ),
  }),
  z.object({ type: z.literal('error'), detail: z.string() }),
]);

export type BacktestLine = z.infer<typeof backtestLine>;

/** Decisions: why they came out as they did, and how they would under other policies. */
export const decisionRoutes = {
  simulatePolicy: {
    method: 'POST',
    path: '/api/v1/policies/simulate',
    tag: 'Policies',
    summary:
      'The answer that a check would get, under the policies in force or a candidate. Nothing is recorded or charged.',
    access: 'read',
    tenancy: 'own',
    body: z
      .strictObject({ ...request, candidate: candidate.candidate.optional(), merge: candidate.merge })
      .meta(alsoOneOf(contextByType)),
    success: {
      status: 200,
      description: 'The answer, and every rule considered.',
      body: z.object({
        decision,
        reason: z.string(),
        policy_rule: z.string(),
        policy_version: z.string(),
        cost_micros: z.int(),
        /** Where the price of the model comes from: `configured`, or `built in` and its day. Null if it did not decide. */
        price: z.string().nullable(),
        /** The terms of an approval: the strictest of all rules that ask. Null if nobody would be asked. */
        approvals: z
          .object({ rules: z.array(z.string()), count: z.int().min(1), ttl_secs: z.int(), grants: z.boolean() })
          .nullable(),
        /** What rules would make of the arguments, as the log would have it. Null if nothing. */
        rewritten_args: z.record(z.string(), z.unknown()).nullable(),
        /** Whether rules would mask the prompt before its provider sees it. */
        masks_prompt: z.boolean(),
        /** The labels that the call would give: at once, or when it is approved. */
        labels: z.array(z.string()),
        /** Whether any rule on results could match what the call brings back. */
        judge_result: z.boolean(),
        /** What becomes of the supposed result. Null if none is supposed, or the call is denied. */
        result: resultJson.nullable(),
        rules: z.array(consideredJson),
      }),
    },
    problems: ['policy_invalid', 'tenant_bound', 'too_expensive', 'overloaded'],
  },
  backtestPolicy: {
    method: 'POST',
    path: '/api/v1/policies/backtest',
    tag: 'Policies',
    summary:
      'Judge the recorded decisions of the last days again by a candidate, and say what would change. The answer is lines of JSON: progress, and the result as the last line.',
    access: 'read',
    tenancy: 'own',
    body: z.strictObject({
      ...candidate,
      days: z.number().positive().max(366).default(7),
      org_id: idFilter,
      team_id: idFilter,
      agent_id: idFilter,
      /** How many changes the answer lists one by one. */
      changes: z.int().min(0).max(10_000).default(100),
    }),
    success: {
      status: 200,
      description: 'Lines of JSON: progress, changes, and the result.',
      types: ['application/x-ndjson'],
    },
    problems: ['policy_invalid', 'tenant_bound', 'too_expensive', 'overloaded'],
  },
  explainDecision: {
    method: 'GET',
    path: '/api/v1/decisions/{id}/explain',
    tag: 'Policies',
    summary: 'Why an operation was decided as it was, with every rule considered.',
    access: 'read',
    tenancy: 'own',
    params: z.object({ id: z.string().max(bounds.opId) }),
    success: {
      status: 200,
      description: 'The decision, explained.',
      body: z.object({
        op_id: z.string(),
        decision,
        reason: z.string(),
        policy_rule: z.string(),
        policy_version: z.string(),
        at: timestamp,
        /** What rules have made of the arguments, as the log has it. Null if nothing. */
        rewritten_args: z.record(z.string(), z.unknown()).nullable(),
        /** Whether rules on results could match what the operation brings back. */
        judge_result: z.boolean(),
        /** The newest results of the operation that were judged, the newest first. */
        results: z.array(judgedResultJson),
        rules: z.array(consideredJson),
        /** Remarks on the explanation, such as that the policies of that time are no longer known. */
        notes: z.array(z.string()),
      }),
    },
    problems: ['decision_not_found', 'ambiguous_op', 'too_expensive', 'overloaded'],
  },
} as const satisfies Record<string, Route>;
