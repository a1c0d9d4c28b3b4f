import type { Read } from '../checker/reads.ts';
import type { Answer, Asked, Refused, Told } from '../checker/told.ts';

/** An operation that is known to somebody, for those who complete or control it. */
export interface KnownOp {
  readonly agent: StormAgentId;
  readonly opId: string;
  readonly costMicros: number;
  /** The states that its client was told or has read, in order. */
  readonly known: string[];
  /** How often its completion was sent. */
  completions: number;
}

export interface StormAgentId {
  readonly orgId: string;
  readonly teamId: string;
  readonly agentId: string;
}

export function nameOf({ orgId, teamId, agentId }: StormAgentId): string {
  return `${orgId}/${teamId}/${agentId}`;
}

/** What all clients of a storm write down. An answer is noted as soon as it has arrived. */
export class Notes implements Told {
  readonly checks: (Asked & { attempts: number; readonly answers: Answer[] })[] = [];
  readonly completed: { op: string; costMicros: number }[] = [];
  readonly refused: Refused[] = [];
  readonly controls: string[] = [];
  readonly verdicts: { approvalId: string; state: string }[] = [];
  readonly registered: string[] = [];
  readonly reads: Read[] = [];
  /** Operations that may be in flight. Operators pick from them. */
  readonly inFlight: KnownOp[] = [];
  /** How often an answer stayed away, and the request was sent again. */
  unknown = 0;
  /** Why, as far as the client could tell. */
  lastUnknown = 'none';
}
