import type { ActionType, Via } from '../action/index.ts';
import type { LogFollower, ReplayedEntry } from '../audit/index.ts';
import { ByLineage, EntryTimes } from '../audit/index.ts';
import type { AgentId, EpochMs } from '../kernel/index.ts';
import { keptText } from '../kernel/index.ts';
import type { OwedLabel } from '../runs/index.ts';
import { noLabels } from '../runs/index.ts';
import type { Agent } from '../tenancy/index.ts';
import type { OpState } from './lifecycle.ts';
import type { OpRecord, OpUsage } from './op.ts';
import { isOver } from './lifecycle.ts';
import { bareRecord, noDelegators, recordOf } from './op.ts';
import type { OpsState } from './operations.ts';
import { dropOp } from './ops-facts.ts';
import type { RestoredOps } from './restore-ops.ts';
import type { ResultDuty } from './result-duty.ts';

type LoggedLabels = readonly (Omit<OwedLabel, 'policyRule'> & { readonly policy_rule: string })[];

/** The members of an entry that describe an operation. */
interface LoggedEntry {
  readonly op_id: string | null;
  readonly policy_rule: string | null;
  readonly reason: string | null;
  readonly payload: {
    readonly action?: { readonly type: ActionType };
    readonly op_state?: OpState;
    readonly digest?: string;
    readonly labels?: LoggedLabels;
    readonly unjudged_labels?: LoggedLabels;
    readonly rewritten_digest?: string;
    readonly cost_micros?: number;
    readonly delegators?: readonly string[];
    readonly floor?: boolean;
    readonly resource?: string;
    readonly run_id?: string;
    readonly summary?: string;
    readonly via?: Via;
    readonly replay?: boolean;
    /** Null in an operation's first entry: it was registered without a check. */
    readonly from?: OpState | null;
    readonly to?: OpState;
    readonly trigger?: string;
    readonly control_id?: string;
    readonly input_tokens?: number;
    readonly output_tokens?: number;
    readonly cached_input_tokens?: number;
  };
}

/**
 * Restores operations from audit entries. Releases before the log of facts kept nothing else: this is for the first
 * start on their data.
 */
export class OpsOfEntries implements LogFollower {
  readonly after: number;
  readonly #state: OpsState;
  readonly #agents: ByLineage<Agent | undefined>;
  readonly #times = new EntryTimes();
  readonly #restored: RestoredOps;

  /** The rows are true up to the entry `after`, or beyond it. */
  constructor(state: OpsState, after: number, restored: RestoredOps) {
    this.#state = state;
    this.after = after;
    this.#restored = restored;
    this.#agents = new ByLineage((id) => state.directory.find(id));
  }

  follow(entry: ReplayedEntry): void {
    const { type, opId, seq } = entry;
    const agent = this.#agents.of(entry.lineage);
    if (agent === undefined) return;
    if (type === 'AgentDeregistered') this.#left(agent, seq);
    if (opId === null) return;
    const known = this.#state.ops.find(agent, opId);
    if (known !== undefined && known.seq >= seq) return;
    const logged: LoggedEntry = entry.body;
    const after = recordAfter(known && recordOf(known), type, logged, agent.record.id, this.#times.of(entry));
    if (after !== undefined) this.#restored.put(agent, after, seq, logged.payload.control_id);
  }

  /** Drops what still ran when the agent left. What is over stays until it is swept, and so do those of a later registration. */
  #left(agent: Agent, seq: number): void {
    for (const op of [...this.#state.ops.of(agent)]) {
      if (op.seq < seq && !isOver(op.state)) dropOp(this.#state, op);
    }
  }
}

/** What an operation is after an entry about it. Undefined if the entry changes nothing of it. */
function recordAfter(
  known: OpRecord | undefined,
  type: string,
  entry: LoggedEntry,
  agent: AgentId,
  at: EpochMs,
): OpRecord | undefined {
  const { payload } = entry;
  if (type === 'OpStateChanged') {
    if (payload.from === null) return decided(known, entry, 'pending', agent, at);
    return known === undefined || payload.to === undefined ? undefined : moved(known, entry, payload.to, at);
  }
  // The operation stays paused, by another control.
  if (type === 'OpPauseWidened') return payload.control_id === undefined ? undefined : known;
  if (type === 'ResultAllowed' || type === 'ResultMasked' || type === 'ResultDenied') return known && judged(known);
  if (type === 'BudgetReservationReleased') return known && { ...known, reservedMicros: 0 };
  if (payload.op_state === undefined || payload.replay === true) return undefined;
  return decided(known, entry, payload.op_state, agent, at);
}

/** All that the first check says of an operation. The rest is told by later entries, or is nobody's word. */
type ToldByEntry = Omit<OpRecord, 'agent' | 'opId' | 'updatedAt' | 'usage' | 'control' | 'stale'>;

function decided(
  known: OpRecord | undefined,
  { op_id: opId, payload, reason, policy_rule: policyRule }: LoggedEntry,
  state: OpState,
  agent: AgentId,
  at: EpochMs,
): OpRecord | undefined {
  if (opId === null) return undefined;
  // Only the first check decides. The row may have been written in its turn, and know of it already. An operation that
  // ended before was swept, and this is another one.
  const isKnown = known !== undefined && !isOver(known.state);
  const costMicros = payload.cost_micros ?? 0;
  const told: ToldByEntry = {
    state,
    registeredAt: isKnown ? known.registeredAt : at,
    actionType: payload.action?.type ?? null,
    resource: keptText(payload.resource ?? ''),
    summary: keptText(payload.summary ?? ''),
    runId: payload.run_id ?? '',
    delegators: payload.delegators ?? noDelegators,
    floor: payload.floor ?? false,
    via: payload.via ?? null,
    reason: keptText(reason ?? ''),
    costMicros,
    reservedMicros: isOver(state) ? 0 : costMicros,
    policyRule: policyRule ?? '',
    digest: payload.digest ?? '',
    owedLabels: payload.op_state === 'pending' ? owedIn(payload.labels) : noLabels,
    resultDuty: dutyIn(payload),
    // What was changed is known from facts alone.
    rewrite: payload.rewritten_digest === undefined ? null : { digest: payload.rewritten_digest, changes: null },
  };
  return { ...bareRecord(agent, opId, at), ...told };
}

/** Somebody has asked about its result. */
function judged(known: OpRecord): OpRecord {
  const { resultDuty } = known;
  return resultDuty === null ? known : { ...known, resultDuty: { ...resultDuty, judged: true } };
}

function moved(known: OpRecord, { payload, reason }: LoggedEntry, state: OpState, at: EpochMs): OpRecord {
  const { trigger } = payload;
  const told = trigger === 'terminate' ? (reason ?? 'operation is terminated') : (reason ?? '');
  return {
    ...known,
    state,
    updatedAt: at,
    costMicros: payload.cost_micros ?? known.costMicros,
    usage: usageIn(payload) ?? known.usage,
    // Whatever moves an operation gives the labels that it owes, or ends the debt.
    owedLabels: noLabels,
    reservedMicros: isOver(state) ? 0 : known.reservedMicros,
    reason: trigger === 'terminate' || trigger === 'allow' ? keptText(told) : known.reason,
  };
}

function dutyIn({ unjudged_labels: unjudged }: LoggedEntry['payload']): ResultDuty | null {
  return unjudged === undefined ? null : { judged: false, unjudged: owedIn(unjudged) };
}

function usageIn(payload: LoggedEntry['payload']): OpUsage | null {
  const { input_tokens: input, output_tokens: output, cached_input_tokens: cached } = payload;
  if (input === undefined && output === undefined && cached === undefined) return null;
  return { inputTokens: input ?? null, outputTokens: output ?? null, cachedInputTokens: cached ?? null };
}

function owedIn(labels: LoggedLabels | undefined): readonly OwedLabel[] {
  return labels?.map(({ name, of, policy_rule: policyRule }) => ({ name, of, policyRule })) ?? noLabels;
}
