import { Decision } from '@reeve/contract';
import type { RouteOutput, Routes } from '@reeve/contract/http';
import type { Registered, TestGateway } from '../harness/gateway.ts';
import { bootstrapKey, checkRequest, toolCall } from '../harness/gateway.ts';
import type { Chance } from './chance.ts';
import type { Witness } from './witness.ts';

type Controlled = RouteOutput<Routes['pauseOp']>;
type Approval = RouteOutput<Routes['approve']>;

/** Allows, denies and asks people, and charges costs against caps that nothing reaches. */
export const loadPolicy = `
name: load
default: allow
budget: { org_daily_limit_usd: 100000, team_daily_limit_usd: 100000 }
rules:
  - { name: never, effect: deny, tools: ["no_*"] }
  - { name: ask, effect: require_approval, tools: [ask] }
`;

export const loadEnv = {
  SVC_RATE_LIMIT_API_PER_MIN: '0',
  SVC_RATE_LIMIT_PUBLIC_PER_MIN: '0',
  SVC_RATE_LIMIT_AUTH_PER_MIN: '0',
  SVC_OPS_SWEEP_TICK_SECS: '1',
};

export interface Load {
  readonly gateway: TestGateway;
  readonly agent: Registered;
  readonly witness: Witness;
  readonly chance: Chance;
  /** The prefix of the operation ids. Used once. */
  readonly name: string;
}

/** Checks, completes, registers, pauses, resumes and gives verdicts, all at once, until the gateway is gone. */
export async function loadUntilGone(load: Load): Promise<void> {
  const lanes = [unary, unary, unary, unary, batches, registrations, controls, verdicts];
  // A lane ends when a call fails. The gateway is then gone, or it refuses, which the caller checks.
  await Promise.all(
    lanes.map((lane, nth) => lane(load, `${load.name}-${nth}`, load.chance.fork()).catch(() => undefined)),
  );
}

function requestOf({ agent }: Load, traceId: string, nth: number, chance: Chance) {
  const tool = chance.oneOf(['search', 'search', 'search', 'no_way', 'read']);
  const cost = chance.happens(0.5) ? chance.below(2000) : undefined;
  return checkRequest(agent, {
    traceId,
    spanId: String(nth),
    context: toolCall(tool, { nth }),
    estimatedCostMicros: cost,
  });
}

async function unary(load: Load, traceId: string, chance: Chance): Promise<void> {
  const { gateway, agent, witness } = load;
  for (let nth = 0; ; nth++) {
    const answer = await gateway.check(agent, requestOf(load, traceId, nth, chance));
    witness.decided(answer);
    if (answer.decision !== Decision.ALLOW || chance.happens(0.4)) continue;
    await gateway.complete(agent, answer.opId, { actualCostMicros: chance.below(3000) });
    witness.completions.add(answer.opId);
  }
}

async function batches(load: Load, traceId: string, chance: Chance): Promise<void> {
  for (let nth = 0; ; nth += 20) {
    const requests = Array.from({ length: 20 }, (_, at) => requestOf(load, traceId, nth + at, chance));
    const responses = await load.gateway.batch(requests);
    for (const answer of responses) load.witness.decided(answer);
  }
}

async function registrations({ gateway, witness }: Load, traceId: string): Promise<void> {
  for (let nth = 0; ; nth++) witness.registered.push(await gateway.register({ agentId: `${traceId}-${nth}` }));
}

async function controls({ gateway, agent, witness }: Load, traceId: string): Promise<void> {
  for (let nth = 0; ; nth++) {
    const answer = await gateway.check(agent, checkRequest(agent, { traceId, spanId: String(nth) }));
    witness.decided(answer);
    for (const verb of ['pause', 'resume', 'terminate']) {
      const path = `/api/v1/ops/${encodeURIComponent(answer.opId)}/${verb}`;
      const { status, body } = await gateway.api.post<Controlled>(path, bootstrapKey, {});
      if (status === 202 && body.control !== null) witness.controls.add(body.control.id);
    }
  }
}

async function verdicts({ gateway, agent, witness }: Load, traceId: string, chance: Chance): Promise<void> {
  for (let nth = 0; ; nth++) {
    const context = toolCall('ask', { nth });
    const answer = await gateway.check(agent, checkRequest(agent, { traceId, spanId: String(nth), context }));
    witness.decided(answer);
    const verb = chance.oneOf(['approve', 'reject'] as const);
    const path = `/api/v1/approvals/${answer.approvalId}/${verb}`;
    const { status } = await gateway.api.post<Approval>(path, bootstrapKey, {});
    if (status === 200) witness.verdicts.add(answer.approvalId);
  }
}
