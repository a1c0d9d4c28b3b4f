import type {
  AuditReader,
  ConsideredRule,
  Decisions,
  Explanation,
  Json,
  RawCheckRequest,
  RecordedResult,
  SimulatedApprovals,
  SimulatedResult,
  Simulation,
  StoredEntry,
  User,
} from '@reeve/core';
import { backtest, explainDecision, timestamp, userFrom } from '@reeve/core';
import { TenantSlots, tenantOf } from '../../../evaluation/tenant-slots.ts';
import type { PolicyEvaluator } from '../../../evaluation/policy-evaluator.ts';
import { inexactIn } from '../../../evaluation/inexact-in.ts';
import { backtestText } from '../backtest-lines.ts';
import type { Handlers } from '../handler.ts';
import { RawAnswer } from '../handler.ts';
import { patienceMs, patientStream } from '../patient-stream.ts';
import { readActionType, readContext } from '../read-context.ts';

export interface DecisionPorts {
  readonly gov: Decisions;
  readonly log: AuditReader;
  readonly evaluator: PolicyEvaluator;
  readonly onError: (error: unknown) => void;
}

type DecisionRoutes = 'simulatePolicy' | 'backtestPolicy' | 'explainDecision';

/** How many backtests of a tenant may run at a time. */
const mostBacktests = 2;
const retryAfterSecs = 10;
const day = 86_400_000;

export function decisionHandlers({ gov, log, evaluator, onError }: DecisionPorts): Pick<Handlers, DecisionRoutes> {
  const backtests = new TenantSlots({ slots: mostBacktests, waitMs: 0, waiting: 0, retryAfterSecs });
  return {
    simulatePolicy: async ({ body }, { principal }) => {
      const { org_id: orgId, team_id: teamId, agent_id: agentId } = body.agent;
      const action = readContext(readActionType(body.action_type), body.context ?? {});
      const request: RawCheckRequest = {
        agentId: { orgId: orgId ?? principal.orgId ?? '', teamId: teamId ?? principal.teamId ?? '', agentId },
        token: '',
        traceId: '',
        spanId: '',
        action,
        caller: null,
        estimatedCostMicros: body.estimated_cost_micros ?? null,
        runId: body.run_id,
        summary: '',
        canRewrite: body.can_rewrite,
        canMaskPrompt: body.can_mask_prompt,
        user: body.user == null ? null : userFrom({ ...body.user, claims: (body.user.claims ?? {}) as User['claims'] }),
        inexact: inexactIn(action),
      };

      const candidate = body.candidate === undefined ? undefined : { text: body.candidate, merge: body.merge };
      const supposed = { labels: body.run?.labels, result: body.result ?? undefined };
      const found = await evaluator.simulate(principal, request, candidate, supposed);
      return simulationJson(found);
    },
    backtestPolicy: async ({ body }, { principal }) => {
      const candidate = { text: body.candidate, merge: body.merge };
      const tenant = tenantOf(principal);
      await backtests.take(tenant);
      try {
        await evaluator.requireCandidate(principal, candidate);
      } catch (error) {
        backtests.give(tenant);
        throw error;
      }
      const to = gov.clock.now();
      const judge = (entries: readonly StoredEntry[]) => evaluator.judgeAgain(principal, candidate, entries);
      const lines = backtest({ gov, log, judge }, principal, {
        from: to - Math.round(body.days * day),
        to,
        changes: body.changes,
        ...(body.org_id === undefined ? {} : { orgId: body.org_id }),
        ...(body.team_id === undefined ? {} : { teamId: body.team_id }),
        ...(body.agent_id === undefined ? {} : { agentId: body.agent_id }),
      });
      const stream = patientStream(backtestText(lines, onError), patienceMs, () => backtests.give(tenant));
      return new RawAnswer('application/x-ndjson; charset=utf-8', stream);
    },
    explainDecision: async ({ params }, { principal }) => {
      const consider = evaluator.considerAgain;
      const found = await explainDecision({ gov, log, consider }, principal, params.id);
      return explanationJson(found);
    },
  };
}

function simulationJson(found: Simulation) {
  return {
    decision: found.decision,
    reason: found.reason,
    policy_rule: found.policyRule,
    policy_version: found.policyVersion,
    cost_micros: found.costMicros,
    price: found.price ?? null,
    approvals: found.approvals === undefined ? null : approvalsJson(found.approvals),
    rewritten_args: rewrittenJson(found.rewrittenArgs),
    masks_prompt: found.masksPrompt,
    labels: [...found.labels],
    judge_result: found.judgeResult,
    result: found.result === undefined ? null : resultJson(found.result),
    rules: found.rules.map(ruleJson),
  };
}

function explanationJson(found: Explanation) {
  return {
    op_id: found.opId,
    decision: found.decision,
    reason: found.reason,
    policy_rule: found.policyRule,
    policy_version: found.policyVersion,
    at: timestamp(found.at),
    rewritten_args: rewrittenJson(found.rewrittenArgs),
    judge_result: found.judgeResult,
    results: found.results.map(recordedResultJson),
    rules: found.rules.map(ruleJson),
    notes: [...found.notes],
  };
}

function approvalsJson({ rules, count, waitMs, grants }: SimulatedApprovals) {
  return { rules: [...rules], count, ttl_secs: Math.ceil(waitMs / 1000), grants };
}

/** Rewritten arguments are an object. Of long ones, that has their length and digest. */
function rewrittenJson(args: Json | undefined): Record<string, unknown> | null {
  return args === undefined ? null : (args as Record<string, unknown>);
}

function resultJson({ effect, reason, policyRule, masked, counts, labels, rules }: SimulatedResult) {
  return {
    effect,
    reason,
    policy_rule: policyRule,
    masked: masked ?? null,
    counts: { ...counts },
    labels: [...new Set(labels.map(({ name }) => name))],
    rules: rules.map(ruleJson),
  };
}

function recordedResultJson(result: RecordedResult) {
  const { at, effect, reason, policyRule, policyVersion, isError, size, counts, labels } = result;
  return {
    at: timestamp(at),
    effect,
    reason,
    policy_rule: policyRule,
    policy_version: policyVersion,
    is_error: isError,
    size,
    counts: { ...counts },
    labels: [...labels],
  };
}

function ruleJson<RuleEffect>({ document, rule, effect, matched, why, observed }: ConsideredRule<RuleEffect>) {
  return { document, rule, effect, matched, why, observed };
}
