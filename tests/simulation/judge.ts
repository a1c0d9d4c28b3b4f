import type { AgentId, Batch, Governance, SealedEntry } from '@reeve/core';
import { emptyChain } from '@reeve/core';
import { Broken } from './broken.ts';
import type { History } from './history.ts';
import { JudgedApprovals } from './judged-approvals.ts';
import { JudgedBudgets, tierName } from './judged-budgets.ts';
import { JudgedDelegations } from './judged-delegations.ts';
import type { JudgedEntry, OpState } from './judged-entry.ts';
import { agentName, dayOf, opName, readEntry } from './judged-entry.ts';
import { JudgedHolds } from './judged-holds.ts';
import { JudgedLabels, requireGiven } from './judged-labels.ts';
import { isOver, JudgedOps } from './judged-ops.ts';
import { JudgedRates } from './judged-rates.ts';
import { JudgedResults } from './judged-results.ts';
import { JudgedRewrites } from './judged-rewrites.ts';
import { JudgedRuns } from './judged-runs.ts';
import { JudgedTokens } from './judged-tokens.ts';
import { requireAllowed } from './policies.ts';
import { sha256 } from './random.ts';

/** What a commit has written, as far as it is judged. */
export type Written = Pick<Batch, 'entries' | 'changes'>;

/**
 * Reads the log as it grows, by itself and in the order in which it was written, and requires of every entry what Reeve
 * promises: caps and rates hold in every tier, operations move by their table, and nothing is decided for, or done by, whoever
 * was stopped before, has no token in force, or acts for others who may not.
 */
export class Judge {
  readonly ops: JudgedOps;
  readonly budgets: JudgedBudgets;
  readonly tokens = new JudgedTokens();
  readonly delegations = new JudgedDelegations();
  readonly labels = new JudgedLabels();
  readonly results = new JudgedResults(this.labels);
  readonly rewrites = new JudgedRewrites(this.labels);
  readonly #history: History;
  readonly #approvals = new JudgedApprovals();
  readonly #holds = new JudgedHolds();
  readonly #rates = new JudgedRates();
  readonly #runs = new JudgedRuns();
  readonly #revokedKeys = new Set<string>();
  #hash = emptyChain.hash;
  /** How many entries there are of each type. */
  readonly counts: Record<string, number> = {};
  entries = 0;
  allowed = 0;

  constructor(history: History) {
    this.#history = history;
    this.ops = new JudgedOps(history);
    this.budgets = new JudgedBudgets(history);
  }

  /** `until`: when they are written, by any clock. */
  read({ entries, changes }: Written, until: number): void {
    for (const change of changes) {
      this.#runs.forget(change);
      if (change.kind === 'agent_saved') this.tokens.saved(agentName(change.agent.id), change.agent.tokenHash ?? '');
    }
    this.budgets.beginCommit(dayOf(until));
    this.#runs.moveTo(until);
    this.labels.moveTo(until);
    for (const entry of entries) this.#readOne(entry);
  }

  /** Whether the log has this operation in one of these states. */
  has(agent: AgentId, opId: string, ...states: readonly OpState[]): boolean {
    return this.ops.has(opName(agentName(agent), opId), ...states);
  }

  /** A gateway that has read all of the log knows what it says of delegations, labels and results. */
  requireKnown(gov: Governance, gateway: string): void {
    this.delegations.requireKnown(gov.directory.delegations.all, gateway);
    this.labels.requireKnown(gov, gateway);
    this.results.requireKnown(gov, gateway);
  }

  #readOne(sealed: SealedEntry): void {
    const { seq, canonical, hash } = sealed;
    if (seq !== ++this.entries) throw new Broken(`entry ${seq} comes after ${this.entries - 1} entries`);
    if (!canonical.includes(`"prev_hash":"${this.#hash}"`) || sha256(canonical) !== hash) {
      throw new Broken(`entry ${seq} does not continue the chain`);
    }
    this.#hash = hash;
    const entry = readEntry(sealed);
    const { eventType, actor, opId, payload, at } = entry;
    this.budgets.moveTo(dayOf(at));
    // What a key imposed before its end is carried out after it, too.
    const isCarriedOut = payload.cause === 'suspension' || (eventType === 'OpControlRequested' && opId === null);
    if (actor.kind === 'api_key' && this.#revokedKeys.has(actor.id) && !isCarriedOut) {
      throw new Broken(`entry ${seq}: ${eventType} by the key ${actor.id}, which was revoked before`);
    }
    this.counts[eventType] = (this.counts[eventType] ?? 0) + 1;
    this.#meaning[eventType]?.(entry);
  }

  /** What the log says, as far as it is judged. */
  readonly #meaning: Readonly<Partial<Record<string, (entry: JudgedEntry) => void>>> = {
    AgentRegistered: ({ seq, agent, payload, at }) => {
      const [, ttlSecs] = (payload.version ?? '').split('/');
      this.tokens.give(seq, agent, at, ttlSecs === undefined ? null : Number(ttlSecs) * 1000);
    },
    AgentTokenRenewed: ({ seq, agent, at }) => {
      this.tokens.requireAsked(seq, agent, `${agent} renews`, at);
      this.delegations.requireLasting(seq, agent, at);
      this.tokens.renew(seq, agent, at);
    },
    AgentDelegated: (entry) => {
      const { seq, agent, actor, at } = entry;
      this.tokens.requireAsked(seq, actor.id, `${actor.id} delegates to ${agent}`, at);
      this.delegations.requireLasting(seq, actor.id, at);
      for (const name of [actor.id, ...this.delegations.above(actor.id).map(({ by }) => by)]) {
        this.#holds.requireFree(seq, name, `a delegation to ${agent}`);
      }
      this.delegations.delegate(entry);
      this.tokens.give(seq, agent, at, null);
    },
    DelegationEnded: ({ seq, agent, actor, payload, at }) => {
      const isRevoked = payload.cause === 'revoked' && actor.kind === 'agent';
      if (isRevoked) this.tokens.requireAsked(seq, actor.id, `${actor.id} revokes ${agent}`, at);
      this.#leave(seq, agent);
    },
    AgentDeregistered: ({ seq, agent }) => {
      this.#leave(seq, agent);
      this.#holds.resume(agent);
    },
    AgentSuspended: ({ agent }) => this.#holds.suspend(agent),
    AgentResumed: ({ agent }) => this.#holds.resume(agent),
    ScopeSuspended: ({ payload }) => this.#holds.holdScope(payload.suspension_id ?? '', payload),
    ScopeResumed: ({ payload }) => this.#holds.liftScope(payload.suspension_id ?? ''),
    RunStarted: (entry) =>
      this.labels.begin(
        entry,
        this.delegations.above(entry.agent).map(({ by }) => by),
      ),
    RunLabelsCleared: (entry) => this.labels.clear(entry),
    RunHeld: ({ payload }) => this.#holds.holdRun(payload.control_id ?? '', payload),
    RunReleased: ({ payload }) => this.#holds.releaseRun(payload.control_id ?? ''),
    ApiKeyCreated: (entry) => this.#approvals.makeKey(entry),
    ApiKeyRevoked: ({ payload: { key_id: key = '' } }) => {
      this.#revokedKeys.add(key);
      this.#history.revoked(key);
    },
    ApprovalRequested: (entry) => this.#approvals.request(entry),
    ApprovalGranted: (entry) => this.#approvals.grant(entry),
    ApprovalRejected: (entry) => this.#approvals.close(entry),
    ApprovalExpired: (entry) => this.#approvals.close(entry),
    ApprovalCancelled: (entry) => this.#approvals.close(entry),
    ActionAllowed: (entry) => this.#decided(entry),
    ActionPending: (entry) => this.#decided(entry),
    ActionDenied: (entry) => this.#decided(entry),
    BudgetLimitExceeded: (entry) => this.#decided(entry),
    ResultAllowed: (entry) => this.#judged(entry),
    ResultMasked: (entry) => this.#judged(entry),
    ResultDenied: (entry) => this.#judged(entry),
    OpStateChanged: (entry) => this.#moved(entry),
    BudgetLimitApproached: (entry) => this.#told(entry),
    BudgetReservationReleased: ({ agent, opId }) => this.#release(agent, opId ?? ''),
  };

  #leave(seq: number, agent: string): void {
    this.delegations.end(seq, agent);
    this.ops.requireNoneOf(seq, agent);
    this.tokens.end(agent);
  }

  #decided(entry: JudgedEntry): void {
    const { seq, agent, opId, decision, payload, at } = entry;
    const { cost_micros: cost = 0, run_id: runId, user } = payload;
    if (opId === null) return this.delegations.refuse(entry);
    const name = opName(agent, opId);
    if (decision !== 'deny') this.tokens.requireAsked(seq, agent, name, at, user?.sub ?? null);
    if (payload.replay === true) return this.#replayed(entry, name);
    const delegators = this.delegations.decide(entry, (each) => this.budgets.reservedOf(each));
    const whose = { agent, delegators };
    this.#runs.count(entry, delegators);
    this.labels.decide(entry, delegators);
    this.results.decide(name);
    if (decision === 'deny') {
      this.ops.decide(seq, name, { state: 'terminated', reserved: 0, delegators });
      if (payload.limit !== undefined) this.budgets.requireExceeded(seq, whose, cost);
      if (payload.rate !== undefined) this.#rates.requireUsedUp(seq, agent, delegators, at);
      return;
    }
    this.allowed++;
    this.rewrites.decide(entry);
    this.ops.decide(seq, name, { state: decision === 'allow' ? 'running' : 'pending', reserved: cost, delegators });
    for (const each of [agent, ...delegators]) requireAllowed(entry, each);
    this.#rates.count(seq, agent, delegators, at);
    this.budgets.reserve(whose, cost);
    if (delegators.length === 0) this.#history.charged(name);
    // What an action did cost counts, and may pass a cap. What costs nothing is allowed all the same.
    if (cost > 0) this.budgets.requireWithinCaps(seq, whose, name);
    for (const each of [agent, ...delegators]) {
      if (runId !== undefined) this.#holds.requireFreeRun(seq, each, runId);
      if (decision === 'allow') this.#holds.requireFree(seq, each, name);
    }
  }

  #replayed(entry: JudgedEntry, name: string): void {
    this.ops.requireReplay(entry.seq, name, entry.payload.op_state);
    this.rewrites.replay(entry);
  }

  /** Somebody has asked about the result of an operation. */
  #judged(entry: JudgedEntry): void {
    const { seq, agent, opId, at } = entry;
    const name = opName(agent, opId ?? '');
    this.tokens.requireAsked(seq, agent, name, at);
    this.results.judge(entry, this.ops.has(name, 'running'));
  }

  #told({ seq, payload, agent }: JudgedEntry): void {
    const { tier, team_id: team, tier_agent_id: one = '', period, day = '', percent = 0 } = payload;
    const [org = ''] = agent.split('/');
    if (period === 'day') {
      this.budgets.tell(seq, tier === 'global' ? '*' : tierName(org, team ?? '', one), day, percent);
    }
  }

  #moved(entry: JudgedEntry): void {
    const { seq, agent, opId, payload, at } = entry;
    if (opId === null) return;
    const { from = null, to = 'pending', trigger, booked, cost_micros: cost = 0 } = payload;
    const name = opName(agent, opId);
    if (from === null) return this.ops.register(seq, name, to);
    const op = this.ops.move(seq, name, from, to);
    if (from === 'pending') this.labels.move(entry);
    else if (trigger === 'complete') this.results.complete(entry);
    else requireGiven(entry, []);
    // An operator may resume one operation of an agent that is suspended by itself.
    if (to === 'running') this.#holds.requireFreeScope(seq, agent, name);
    if (to === 'running' && from === 'pending') {
      this.delegations.requireLasting(seq, agent, at);
      for (const above of op.delegators) this.#holds.requireFree(seq, above, name);
    }
    if (!isOver(op)) return;
    this.#release(agent, opId);
    if (trigger !== 'complete') return;
    this.tokens.requireAsked(seq, agent, name, at);
    if (cost === 0) return;
    if (booked === undefined) throw new Broken(`entry ${seq}: ${name} did cost ${cost}, and was not booked`);
    this.budgets.book({ agent, delegators: op.delegators }, booked, cost);
    this.delegations.settle(agent, op.delegators, cost);
  }

  #release(agent: string, opId: string): void {
    const op = this.ops.find(opName(agent, opId));
    if (op === undefined) return;
    this.budgets.release({ agent, delegators: op.delegators }, op.reserved);
    op.reserved = 0;
  }
}
