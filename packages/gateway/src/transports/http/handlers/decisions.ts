import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AuditReader, ConsideredRule, Governance, SimulatedApprovals } from '@reeve/core';
import {
  backtest,
  candidateSet,
  explainDecision,
  parseCheckRequest,
  PastPolicies,
  ReeveError,
  simulate,
  timestamp,
} from '@reeve/core';
import { backtestText } from '../backtest-lines.ts';
import type { Handlers } from '../handler.ts';
import { RawAnswer } from '../handler.ts';
import { patientStream } from '../patient-stream.ts';
import { readActionType, readContext } from '../read-context.ts';

export interface DecisionPorts {
  readonly gov: Governance;
  readonly log: AuditReader;
  readonly onError: (error: unknown) => void;
}

type DecisionRoutes = 'simulatePolicy' | 'backtestPolicy' | 'explainDecision';

const mostBacktests = 2;
const day = 86_400_000;
/** For how long a client may forget to read. */
const patience = 30_000;

export function decisionHandlers({ gov, log, onError }: DecisionPorts): Pick<Handlers, DecisionRoutes> {
  const past = new PastPolicies(gov.library.shelf, gov.library.features);
  let running = 0;
  return {
    simulatePolicy: ({ body }, { principal }) => {
      const { org_id: orgId, team_id: teamId, agent_id: agentId } = body.agent;
      const raw = {
        agentId: { orgId: orgId ?? principal.orgId ?? '', teamId: teamId ?? principal.teamId ?? '', agentId },
        token: '',
        traceId: '',
        spanId: '',
        action: readContext(readActionType(body.action_type), body.context ?? {}),
        caller: null,
        estimatedCostMicros: body.estimated_cost_micros ?? null,
        runId: body.run_id,
        summary: '',
      };
      const request = parseCheckRequest(raw, gov.mostActionMicros);
      const candidate = body.candidate === undefined ? undefined : { text: body.candidate, merge: body.merge };
      const found = simulate(gov, principal, request, candidate);
      return {
        decision: found.decision,
        reason: found.reason,
        policy_rule: found.policyRule,
        policy_version: found.policyVersion,
        cost_micros: found.costMicros,
        approvals: found.approvals === undefined ? null : approvalsJson(found.approvals),
        rules: found.rules.map(ruleJson),
      };
    },
    backtestPolicy: ({ body }, { principal }) => {
      const set = candidateSet(gov, principal, { text: body.candidate, merge: body.merge });
      if (running >= mostBacktests) {
        throw new ReeveError('overloaded', `${mostBacktests} backtests are running; try again when one has ended`, {
          retry_after_secs: 10,
        });
      }
      const to = gov.clock.now();
      const lines = backtest({ gov, log, breathe: () => nextTurn() }, principal, {
        set,
        from: to - Math.round(body.days * day),
        to,
        changes: body.changes,
        ...(body.org_id === undefined ? {} : { orgId: body.org_id }),
        ...(body.team_id === undefined ? {} : { teamId: body.team_id }),
        ...(body.agent_id === undefined ? {} : { agentId: body.agent_id }),
      });
      running++;
      const stream = patientStream(backtestText(lines, onError), patience, () => running--);
      return new RawAnswer('application/x-ndjson; charset=utf-8', stream);
    },
    explainDecision: async ({ params }, { principal }) => {
      const found = await explainDecision({ gov, log, past }, principal, params.id);
      return {
        op_id: found.opId,
        decision: found.decision,
        reason: found.reason,
        policy_rule: found.policyRule,
        policy_version: found.policyVersion,
        at: timestamp(found.at),
        rules: found.rules.map(ruleJson),
        notes: [...found.notes],
      };
    },
  };
}

function approvalsJson({ rules, count, waitMs, grants }: SimulatedApprovals) {
  return { rules: [...rules], count, ttl_secs: Math.ceil(waitMs / 1000), grants };
}

function ruleJson({ document, rule, effect, matched, why, observed }: ConsideredRule) {
  return { document, rule, effect, matched, why, observed };
}
