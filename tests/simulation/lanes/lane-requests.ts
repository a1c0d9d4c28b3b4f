import type { CommonState } from './common-state.ts';
import type { Denial, LaneFact } from './lane-facts.ts';
import type { Rules } from './lane-rules.ts';
import type { LaneState, Op } from './lane-state.ts';
import { idleOf, spentOf } from './lane-state.ts';

/** What callers ask a gateway for. All of it concerns one org. */
export type Request = { readonly lane: number; readonly askedAt: number } & (
  | {
      readonly kind: 'charge';
      readonly op: string;
      readonly agent: string;
      readonly credential: string;
      readonly amount: number;
    }
  | { readonly kind: 'settle'; readonly op: string; readonly amount: number }
  | { readonly kind: 'status'; readonly op: string }
  | { readonly kind: 'spent'; readonly day: number }
  | { readonly kind: 'org cap'; readonly cap: number }
  /** Asked by gateways themselves: what was stopped is released, and what is long over is forgotten. */
  | { readonly kind: 'housekeeping' }
);

export const agentCap = 45;
export const unavailable = 'unavailable';
/** Whoever is not answered by then is not served any more. */
const oldestRequestMs = 10_000;
/** So operations are remembered for longer than anybody asks for them again. */
const rememberedMs = 25_000;

/** By which a gateway decides. */
export interface Ground {
  readonly lane: LaneState;
  readonly common: CommonState;
  readonly rules: Rules;
  readonly now: number;
  readonly day: number;
  /** Whether the database has said, of the lane as it is here, that there is no room for the operation. */
  readonly hasNoRoom: (op: string) => boolean;
}

export type Decision =
  | { readonly answer: string; readonly facts: readonly LaneFact[] }
  /** The lane needs more of the global cap first. */
  | { readonly need: number };

export function decide(request: Request, ground: Ground): Decision {
  const { lane, common, now } = ground;
  if (now - request.askedAt > oldestRequestMs) return told(unavailable);
  if (!common.lanes.has(request.lane)) return told('unknown org');
  switch (request.kind) {
    case 'charge':
      return charge(request, ground);
    case 'settle': {
      const op = lane.ops.get(request.op);
      if (op?.state !== 'running') return told(statusOf(op));
      return told('completed', [{ kind: 'settled', op: request.op, amount: request.amount, at: now }]);
    }
    case 'status':
      return told(statusOf(lane.ops.get(request.op)));
    case 'spent':
      return told(String(spentOf(lane, request.day)));
    case 'org cap':
      return told('done', [{ kind: 'org_cap_set', cap: request.cap }]);
    case 'housekeeping':
      return told('done', [...lane.ops].flatMap(([id, op]) => keptHouse(id, op, now)).slice(0, 5));
  }
}

function charge(request: Extract<Request, { kind: 'charge' }>, ground: Ground): Decision {
  const { lane, common, rules, now, day, hasNoRoom } = ground;
  const known = lane.ops.get(request.op);
  if (known !== undefined) return told(answerOf(known.state));
  const { op, agent, credential, amount } = request;
  const charged = { op, agent, credential, day, amount, at: now };
  const deny = (why: Denial) => told(answerOf(why), [{ kind: 'denied', ...charged, why }]);
  if (common.revoked.has(credential)) return deny('revoked');
  if (spentOf(lane, day, agent) + amount > agentCap) return deny('agent cap');
  if (spentOf(lane, day) + amount > lane.orgCap) return deny('org cap');
  const need = amount - idleOf(lane, day, rules);
  if (need <= 0) return told('allowed', [{ kind: 'charged', ...charged }]);
  return hasNoRoom(op) ? deny('global cap') : { need };
}

function keptHouse(id: string, op: Op, now: number): LaneFact[] {
  if (op.state === 'stopped') return [{ kind: 'released', op: id, at: now }];
  return op.state !== 'running' && now - op.endedAt > rememberedMs ? [{ kind: 'forgotten', op: id }] : [];
}

function told(answer: string, facts: readonly LaneFact[] = []): Decision {
  return { answer, facts };
}

/** What whoever asked for a charge is told of it. */
export function answerOf(state: Op['state']): string {
  const isDenied = state === 'revoked' || state.endsWith(' cap');
  return isDenied ? `denied: ${state}` : 'allowed';
}

/** What is told of an operation. That it was released concerns nobody. */
export function statusOf(op: Pick<Op, 'state'> | undefined): string {
  if (op === undefined) return 'unknown';
  return op.state === 'released' ? 'stopped' : op.state;
}
