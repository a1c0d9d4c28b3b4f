import type { Principal } from '../access/index.ts';
import type { AuditReader, StoredEntry } from '../audit/index.ts';
import type { MaskCounts, RecordedDecision } from '../decision/index.ts';
import type { EpochMs } from '../kernel/index.ts';
import { agentKey } from '../kernel/index.ts';
import { latestLogs } from '../logs/index.ts';
import type { ResultEffect } from '../policy/index.ts';

/** A result of an operation that was judged, as the log has it. */
export interface RecordedResult {
  readonly at: EpochMs;
  readonly effect: ResultEffect;
  readonly reason: string;
  readonly policyRule: string;
  readonly policyVersion: string;
  readonly isError: boolean;
  readonly size: number;
  readonly counts: MaskCounts;
  readonly labels: readonly string[];
}

export interface ResultsOfOp {
  /** The newest first. */
  readonly results: readonly RecordedResult[];
  /** There may be older ones. */
  readonly isCut: boolean;
  /** The operation was completed, and nobody had its result judged. */
  readonly isUnjudged: boolean;
}

const effects: Readonly<Record<string, ResultEffect>> = {
  ResultAllowed: 'allow',
  ResultDenied: 'deny',
  ResultMasked: 'mask',
};

/** An operation may bring back any number of results, each with an entry. So many entries are looked at. */
const mostEntries = 200;

/** What became of the results of the operation that a decision is about. */
export async function judgedResults(log: AuditReader, by: Principal, decided: RecordedDecision): Promise<ResultsOfOp> {
  const { seq, opId, agent } = decided;
  const filter = { opId, agentId: agent.agentId, after: seq, limit: mostEntries };
  const { entries, next } = await latestLogs(log, by, filter);
  const own = entries.map(readEntry).filter((entry) => keyOf(entry) === agentKey(agent));
  return {
    results: own.flatMap((entry) => recordedResult(entry) ?? []),
    isCut: next !== null,
    isUnjudged: own.some(({ payload }) => payload.result_not_judged === true),
  };
}

interface ResultEntry {
  readonly at: string;
  readonly event_type: string;
  readonly lineage: { readonly org_id: string | null; readonly team_id: string; readonly agent_id: string };
  readonly reason: string | null;
  readonly policy_rule: string | null;
  readonly policy_version: string | null;
  readonly payload: {
    readonly counts?: MaskCounts;
    readonly is_error?: boolean;
    readonly labels?: readonly string[];
    readonly result_not_judged?: true;
    readonly size?: number;
  };
}

function readEntry({ canonical }: StoredEntry): ResultEntry {
  return JSON.parse(canonical) as ResultEntry;
}

function keyOf({ lineage: { org_id: orgId, team_id: teamId, agent_id: agentId } }: ResultEntry): string {
  return agentKey({ orgId: orgId ?? '', teamId, agentId });
}

function recordedResult(entry: ResultEntry): RecordedResult | undefined {
  const effect = effects[entry.event_type];
  const { payload } = entry;
  if (effect === undefined) return undefined;
  return {
    at: Date.parse(entry.at),
    effect,
    reason: entry.reason ?? '',
    policyRule: entry.policy_rule ?? '',
    policyVersion: entry.policy_version ?? '',
    isError: payload.is_error === true,
    size: payload.size ?? 0,
    counts: payload.counts ?? {},
    labels: payload.labels ?? [],
  };
}
