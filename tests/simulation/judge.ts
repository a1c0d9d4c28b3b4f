import type { AgentId, SealedEntry, TierOf, Total } from '@reeve/core';
import { caps } from './policies.ts';

/** What was promised, and did not hold. */
export class Broken extends Error {}

type OpState = 'pending' | 'running' | 'paused' | 'completing' | 'terminated';

interface JudgedOp {
  state: OpState;
  reserved: number;
}

interface Payload {
  readonly op_state?: OpState;
  readonly cost_micros?: number;
  readonly replay?: boolean;
  readonly from?: OpState | null;
  readonly to?: OpState;
  readonly trigger?: string;
  readonly booked?: string;
  readonly released_micros?: number;
  readonly suspension_id?: string;
  readonly org_id?: string | null;
  readonly team_id?: string | null;
  readonly agent_id?: string | null;
  readonly run_id?: string;
  readonly key_id?: string;
  readonly cause?: string;
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
 * promises: caps hold in every tier, operations move by their table, and nothing is decided for, or done by, whoever
 * was stopped before.
 */
export class Judge {
  readonly ops = new Map<string, JudgedOp>();
  readonly #reserved = new Map<string, number>();
  readonly #spent = new Map<string, number>();
  readonly #suspendedAgents = new Set<string>();
  readonly #registered = new Set<string>();
  readonly #suspensions = new Map<string, Pick<Payload, 'org_id' | 'team_id'>>();
  readonly #revokedKeys = new Set<string>();
  #day = '';
  entries = 0;
  allowed = 0;

  read(entries: readonly SealedEntry[]): void {
    for (const entry of entries) this.#readOne(entry);
  }

  /** Whether the log has this operation in one of these states. */
  has(agent: AgentId, opId: string, ...states: readonly OpState[]): boolean {
    const op = this.ops.get(opName(agentName(agent), opId));
    return op !== undefined && states.includes(op.state);
  }

  #readOne({ seq, draft }: SealedEntry): void {
    if (seq !== ++this.entries) throw new Broken(`entry ${seq} comes after ${this.entries - 1} entries`);
    const { lineage, actor, eventType, opId, at } = draft;
    // A commit may end on another day than it began.
    this.#moveDay(at);
    const payload = JSON.parse(draft.payload) as Payload;
    // What a key imposed before its end is carried out after it, too.
    const isCarriedOut = payload.cause === 'suspension' || (eventType === 'OpControlRequested' && opId === null);
    if (actor.kind === 'api_key' && this.#revokedKeys.has(actor.id) && !isCarriedOut) {
      throw new Broken(`entry ${seq}: ${eventType} by the key ${actor.id}, which was revoked before`);
    }
    const agent = `${lineage.org_id ?? ''}/${lineage.team_id}/${lineage.agent_id}`;
    const follow = this.#meaning[eventType];
    follow?.({ seq, agent, opId, decision: draft.decision, payload, at });
  }

  /** What the log says, as far as it is judged. */
  readonly #meaning: Readonly<Partial<Record<string, (entry: JudgedEntry) => void>>> = {
    AgentRegistered: ({ agent }) => this.#registered.add(agent),
    AgentDeregistered: ({ agent }) => {
      this.#registered.delete(agent);
      this.#suspendedAgents.delete(agent);
    },
    AgentSuspended: ({ agent }) => this.#suspendedAgents.add(agent),
    AgentResumed: ({ agent }) => this.#suspendedAgents.delete(agent),
    ScopeSuspended: ({ payload }) => this.#suspensions.set(payload.suspension_id ?? '', payload),
    ScopeResumed: ({ payload }) => this.#suspensions.delete(payload.suspension_id ?? ''),
    ApiKeyRevoked: ({ payload }) => this.#revokedKeys.add(payload.key_id ?? ''),
    ActionAllowed: (entry) => this.#decided(entry),
    ActionPending: (entry) => this.#decided(entry),
    ActionDenied: (entry) => this.#decided(entry),
    BudgetLimitExceeded: (entry) => this.#decided(entry),
    OpStateChanged: (entry) => this.#moved(entry),
    BudgetReservationReleased: ({ agent, opId }) => this.#release(agent, opId ?? ''),
  };

  #decided({ seq, agent, opId, decision, payload: { cost_micros: cost = 0, replay } }: JudgedEntry): void {
    if (opId === null || replay === true) return;
    const name = opName(agent, opId);
    const known = this.ops.get(name);
    if (
      known !== undefined &&
      known.state !== 'completing' &&
      known.state !== 'terminated' &&
      known.state !== 'pending'
    ) {
      throw new Broken(`entry ${seq}: ${name} was decided twice; it is ${known.state}`);
    }
    if (decision === 'deny') {
      this.ops.set(name, { state: 'terminated', reserved: 0 });
      return;
    }
    this.allowed++;
    if (!this.#registered.has(agent)) throw new Broken(`entry ${seq}: ${decision} for ${agent}, which has left`);
    this.ops.set(name, { state: decision === 'allow' ? 'running' : 'pending', reserved: cost });
    for (const tier of tiersOf(agent)) add(this.#reserved, tier.name, cost);
    // What an action did cost counts, and may pass a cap. What costs nothing is allowed all the same.
    for (const { name: whose, cap } of cost === 0 ? [] : tiersOf(agent)) {
      const total = (this.#reserved.get(whose) ?? 0) + (this.#spent.get(`${this.#day} ${whose}`) ?? 0);
      if (total > cap) throw new Broken(`entry ${seq}: ${whose} has ${total} of ${cap} after ${name}`);
    }
    if (decision !== 'allow') return;
    if (this.#suspendedAgents.has(agent)) throw new Broken(`entry ${seq}: ${agent} is suspended, and ${name} allowed`);
    const [org, team] = agent.split('/');
    for (const { org_id, team_id } of this.#suspensions.values()) {
      if ((org_id ?? org) === org && (team_id ?? team) === team) {
        throw new Broken(`entry ${seq}: the scope of ${agent} is suspended, and ${name} allowed`);
      }
    }
  }

  #moved({ seq, agent, opId, payload }: JudgedEntry): void {
    if (opId === null) return;
    const { from = null, to = 'pending', trigger, booked, cost_micros: cost = 0 } = payload;
    const name = opName(agent, opId);
    const known = this.ops.get(name);
    if (from === null) {
      if (known !== undefined && known.state !== 'completing' && known.state !== 'terminated') {
        throw new Broken(`entry ${seq}: ${name} was registered again; it is ${known.state}`);
      }
      this.ops.set(name, { state: to, reserved: 0 });
      return;
    }
    if (known?.state !== from || !nextStates[from].includes(to)) {
      throw new Broken(`entry ${seq}: ${name} goes from ${from} to ${to}; it is ${known?.state}`);
    }
    known.state = to;
    if (to !== 'completing' && to !== 'terminated') return;
    this.#release(agent, opId);
    if (trigger !== 'complete' || cost === 0) return;
    if (booked === undefined) throw new Broken(`entry ${seq}: ${name} did cost ${cost}, and was not booked`);
    if (booked > this.#day) this.#day = booked;
    for (const { name: whose } of tiersOf(agent)) add(this.#spent, `${booked} ${whose}`, cost);
  }

  #release(agent: string, opId: string): void {
    const op = this.ops.get(opName(agent, opId));
    if (op === undefined) return;
    for (const { name } of tiersOf(agent)) add(this.#reserved, name, -op.reserved);
    op.reserved = 0;
  }

  #moveDay(at: number): void {
    const day = new Date(at).toISOString().slice(0, 10);
    if (day > this.#day) this.#day = day;
  }

  /** Requires that a ledger reserves what the log says, tier by tier. */
  requireReserved(balances: Iterable<{ readonly of: TierOf; readonly reserved: Total }>, whose: string): void {
    const left = new Map([...this.#reserved].filter(([, reserved]) => reserved !== 0));
    for (const { of, reserved } of balances) {
      const name = [of.orgId, of.teamId, of.agentId].filter((part) => part !== '').join('/') || '*';
      if (Number(reserved) !== (left.get(name) ?? 0)) {
        throw new Broken(`${whose} reserves ${reserved} for ${name}; the log says ${left.get(name) ?? 0}`);
      }
      left.delete(name);
    }
    if (left.size > 0) throw new Broken(`${whose} reserves nothing for ${[...left.keys()].join(', ')}`);
  }
}

export function agentName({ orgId, teamId, agentId }: AgentId): string {
  return `${orgId}/${teamId}/${agentId}`;
}

function opName(agent: string, opId: string): string {
  return `${agent} ${opId}`;
}

function add(totals: Map<string, number>, name: string, by: number): void {
  totals.set(name, (totals.get(name) ?? 0) + by);
}

function tiersOf(agent: string): readonly { readonly name: string; readonly cap: number }[] {
  const [org = '', team = ''] = agent.split('/');
  return [
    { name: '*', cap: caps.global },
    { name: org, cap: caps.org },
    { name: `${org}/${team}`, cap: caps.team },
    { name: agent, cap: caps.agent },
  ];
}
