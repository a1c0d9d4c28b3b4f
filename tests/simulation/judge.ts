import type { AgentId, SealedEntry } from '@reeve/core';
import { emptyChain } from '@reeve/core';
import { Broken } from './broken.ts';
import type { History } from './history.ts';
import { JudgedBudgets, tierName } from './judged-budgets.ts';
import type { HeldScope } from './judged-holds.ts';
import { JudgedHolds } from './judged-holds.ts';
import { JudgedRates } from './judged-rates.ts';
import { JudgedTokens } from './judged-tokens.ts';
import { sha256 } from './random.ts';

type OpState = 'pending' | 'running' | 'paused' | 'completing' | 'terminated';

interface JudgedOp {
  state: OpState;
  reserved: number;
}

interface Payload extends HeldScope {
  readonly op_state?: OpState;
  readonly cost_micros?: number;
  readonly replay?: boolean;
  readonly from?: OpState | null;
  readonly to?: OpState;
  readonly trigger?: string;
  readonly booked?: string;
  readonly released_micros?: number;
  readonly suspension_id?: string;
  readonly limit?: unknown;
  readonly control_id?: string;
  readonly tier?: string;
  readonly tier_agent_id?: string;
  readonly period?: string;
  readonly day?: string;
  readonly percent?: number;
  readonly key_id?: string;
  readonly cause?: string;
  readonly version?: string;
}

interface JudgedEntry {
  readonly seq: number;
  readonly agent: string;
  readonly opId: string | null;
  readonly decision: string | null;
  readonly payload: Payload;
  readonly at: number;
}

const nextStates: Readonly<Record<OpState, readonly OpState[]>> = {
  pending: ['running', 'terminated'],
  running: ['paused', 'completing', 'terminated'],
  paused: ['running', 'terminated'],
  completing: [],
  terminated: [],
};

/**
 * Reads the log as it grows, by itself and in the order in which it was written, and requires of every entry what Reeve
 * promises: caps and rates hold in every tier, operations move by their table, and nothing is decided for, or done by, whoever
 * was stopped before.
 */
export class Judge {
  readonly ops = new Map<string, JudgedOp>();
  readonly budgets: JudgedBudgets;
  readonly tokens = new JudgedTokens();
  readonly #history: History;
  readonly #holds = new JudgedHolds();
  readonly #rates = new JudgedRates();
  readonly #revokedKeys = new Set<string>();
  #hash = emptyChain.hash;
  /** How many entries there are of each type. */
  readonly counts: Record<string, number> = {};
  entries = 0;
  allowed = 0;

  constructor(history: History) {
    this.#history = history;
    this.budgets = new JudgedBudgets(history);
  }

  /** `until`: when they are written, by any clock. */
  read(entries: readonly SealedEntry[], until: number): void {
    this.budgets.beginCommit(dayOf(until));
    for (const entry of entries) this.#readOne(entry);
  }

  /** Whether the log has this operation in one of these states. */
  has(agent: AgentId, opId: string, ...states: readonly OpState[]): boolean {
    const op = this.ops.get(opName(agentName(agent), opId));
    return op !== undefined && states.includes(op.state);
  }

  #readOne({ seq, draft, canonical, hash }: SealedEntry): void {
    if (seq !== ++this.entries) throw new Broken(`entry ${seq} comes after ${this.entries - 1} entries`);
    if (!canonical.includes(`"prev_hash":"${this.#hash}"`) || sha256(canonical) !== hash) {
      throw new Broken(`entry ${seq} does not continue the chain`);
    }
    this.#hash = hash;
    const { lineage, actor, eventType, opId, at } = draft;
    this.budgets.moveTo(dayOf(at));
    const payload = JSON.parse(draft.payload) as Payload;
    // What a key imposed before its end is carried out after it, too.
    const isCarriedOut = payload.cause === 'suspension' || (eventType === 'OpControlRequested' && opId === null);
    if (actor.kind === 'api_key' && this.#revokedKeys.has(actor.id) && !isCarriedOut) {
      throw new Broken(`entry ${seq}: ${eventType} by the key ${actor.id}, which was revoked before`);
    }
    this.counts[eventType] = (this.counts[eventType] ?? 0) + 1;
    const agent = agentIn(lineage);
    const follow = this.#meaning[eventType];
    follow?.({ seq, agent, opId, decision: draft.decision, payload, at });
  }

  /** What the log says, as far as it is judged. */
  readonly #meaning: Readonly<Partial<Record<string, (entry: JudgedEntry) => void>>> = {
    AgentRegistered: ({ agent, payload }) => this.tokens.register(agent, Number(payload.version)),
    AgentDeregistered: ({ agent }) => {
      this.tokens.end(agent);
      this.#holds.resume(agent);
    },
    AgentSuspended: ({ agent }) => this.#holds.suspend(agent),
    AgentResumed: ({ agent }) => this.#holds.resume(agent),
    ScopeSuspended: ({ payload }) => this.#holds.holdScope(payload.suspension_id ?? '', payload),
    ScopeResumed: ({ payload }) => this.#holds.liftScope(payload.suspension_id ?? ''),
    RunHeld: ({ payload }) => this.#holds.holdRun(payload.control_id ?? '', payload),
    RunReleased: ({ payload }) => this.#holds.releaseRun(payload.control_id ?? ''),
    ApiKeyRevoked: ({ payload: { key_id: key = '' } }) => {
      this.#revokedKeys.add(key);
      this.#history.revoked(key);
    },
    ActionAllowed: (entry) => this.#decided(entry),
    ActionPending: (entry) => this.#decided(entry),
    ActionDenied: (entry) => this.#decided(entry),
    BudgetLimitExceeded: (entry) => this.#decided(entry),
    OpStateChanged: (entry) => this.#moved(entry),
    BudgetLimitApproached: (entry) => this.#told(entry),
    BudgetReservationReleased: ({ agent, opId }) => this.#release(agent, opId ?? ''),
  };

  #decided({ seq, agent, opId, decision, payload, at }: JudgedEntry): void {
    const { cost_micros: cost = 0, replay, run_id: runId } = payload;
    if (opId === null) return;
    const name = opName(agent, opId);
    const known = this.ops.get(name);
    if (decision !== 'deny') this.tokens.requireAsked(seq, agent, name);
    if (replay === true) {
      if (known?.state === payload.op_state) return;
      throw new Broken(`entry ${seq}: ${name} was answered as ${payload.op_state}; it is ${known?.state}`);
    }
    if (known !== undefined && !isOver(known) && known.state !== 'pending') {
      throw new Broken(`entry ${seq}: ${name} was decided twice; it is ${known.state}`);
    }
    this.#move(name, 'any', payload.op_state ?? 'terminated');
    if (decision === 'deny') {
      this.ops.set(name, { state: 'terminated', reserved: 0 });
      if (payload.limit !== undefined) this.budgets.requireExceeded(seq, agent, cost);
      return;
    }
    this.allowed++;
    this.ops.set(name, { state: decision === 'allow' ? 'running' : 'pending', reserved: cost });
    this.#rates.count(seq, agent, at);
    this.budgets.reserve(agent, cost);
    this.#history.charged(name);
    // What an action did cost counts, and may pass a cap. What costs nothing is allowed all the same.
    if (cost > 0) this.budgets.requireWithinCaps(seq, agent, name);
    if (runId !== undefined) this.#holds.requireFreeRun(seq, agent, runId);
    if (decision === 'allow') this.#holds.requireFree(seq, agent, name);
  }

  #told({ seq, payload, agent }: JudgedEntry): void {
    const { tier, team_id: team, tier_agent_id: one = '', period, day = '', percent = 0 } = payload;
    const [org = ''] = agent.split('/');
    if (period === 'day') {
      this.budgets.tell(seq, tier === 'global' ? '*' : tierName(org, team ?? '', one), day, percent);
    }
  }

  #moved({ seq, agent, opId, payload }: JudgedEntry): void {
    if (opId === null) return;
    const { from = null, to = 'pending', trigger, booked, cost_micros: cost = 0 } = payload;
    const name = opName(agent, opId);
    const known = this.ops.get(name);
    if (from === null) {
      if (known !== undefined && !isOver(known)) {
        throw new Broken(`entry ${seq}: ${name} was registered again; it is ${known.state}`);
      }
      this.ops.set(name, { state: to, reserved: 0 });
      this.#move(name, 'any', to);
      return;
    }
    this.#move(name, from, to);
    if (known?.state !== from || !nextStates[from].includes(to)) {
      throw new Broken(`entry ${seq}: ${name} goes from ${from} to ${to}; it is ${known?.state}`);
    }
    known.state = to;
    // An operator may resume one operation of an agent that is suspended by itself.
    if (to === 'running') this.#holds.requireFreeScope(seq, agent, name);
    if (!isOver(known)) return;
    this.#release(agent, opId);
    if (trigger !== 'complete') return;
    this.tokens.requireAsked(seq, agent, name);
    if (cost === 0) return;
    if (booked === undefined) throw new Broken(`entry ${seq}: ${name} did cost ${cost}, and was not booked`);
    this.budgets.book(agent, booked, cost);
  }

  #move(op: string, from: string, to: string): void {
    this.#history.happened({ model: 'op', do: 'move', op, from, to });
  }

  #release(agent: string, opId: string): void {
    const op = this.ops.get(opName(agent, opId));
    if (op === undefined) return;
    this.budgets.release(agent, op.reserved);
    op.reserved = 0;
  }
}

/** An entry as people read it. */
export function lineOf({ seq, draft: { eventType, lineage, opId, actor, at, payload } }: SealedEntry): string {
  const about = opId === null ? agentIn(lineage) : opName(agentIn(lineage), opId);
  return `entry ${seq}: ${eventType} ${about} by ${actor.kind} ${actor.id}, ${new Date(at).toISOString()}, ${payload}`;
}

function agentIn({ org_id: org, team_id: team, agent_id: agent }: SealedEntry['draft']['lineage']): string {
  return `${org ?? ''}/${team}/${agent}`;
}

export function agentName({ orgId, teamId, agentId }: AgentId): string {
  return `${orgId}/${teamId}/${agentId}`;
}

export function opName(agent: string, opId: string): string {
  return `${agent} ${opId}`;
}

function isOver({ state }: JudgedOp): boolean {
  return state === 'completing' || state === 'terminated';
}

function dayOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}
