import type { LoggedEntry } from '../../harness/audit-log.ts';

/** An operation has entered a state. */
export interface Transition {
  /** Agent and operation. */
  readonly op: string;
  readonly state: string;
}

/**
 * The transitions that the audit log records. A decision's own entry implies its transitions. Every other transition
 * has one entry.
 */
export function transitionsOf(entry: LoggedEntry): Transition[] {
  const op = `${entry.lineage.agent_id} ${entry.op_id}`;
  const { op_state, replay, to } = entry.payload as { op_state?: string; replay?: boolean; to?: string };
  if (entry.event_type === 'OpStateChanged' && to !== undefined) return [{ op, state: to }];
  if (entry.decision === null || op_state === undefined || replay === true) return [];
  return [
    { op, state: 'pending' },
    { op, state: op_state },
  ];
}
