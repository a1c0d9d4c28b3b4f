import type { Entry } from './log.ts';
import { agentOf, isDecision, isReplay, opOf } from './log.ts';

/** An operation has entered a state. */
export interface Transition {
  /** Agent and operation. */
  readonly op: string;
  readonly state: string;
}

/** The moves of the specification, by trigger. */
const table: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  pending: { allow: 'running', terminate: 'terminated' },
  running: { pause: 'paused', complete: 'completing', terminate: 'terminated' },
  paused: { resume: 'running', terminate: 'terminated' },
};

const stateAfter: Readonly<Record<string, string>> = { allow: 'running', deny: 'terminated', pending: 'pending' };

/** What a replay is told about an operation in this state. */
const replayOf: Readonly<Record<string, string>> = {
  pending: 'pending',
  running: 'allow',
  paused: 'pending',
  completing: 'deny',
  terminated: 'deny',
};

/** The transitions of all operations, in order. A decision implies two, unless it leaves the operation pending. */
export function transitionsOf(entries: readonly Entry[]): Transition[] {
  return entries.flatMap((entry): Transition[] => {
    const op = opOf(entry);
    if (entry.event_type === 'OpStateChanged') return [{ op, state: String(entry.payload['to']) }];
    if (!isDecision(entry)) return [];
    const states = new Set(['pending', String(entry.payload['op_state'])]);
    return [...states].map((state) => ({ op, state }));
  });
}

/** The states that each operation went through, in order. */
export function historiesOf(entries: readonly Entry[]): Map<string, string[]> {
  const histories = new Map<string, string[]>();
  for (const { op, state } of transitionsOf(entries)) {
    const known = histories.get(op);
    if (known === undefined) histories.set(op, [state]);
    else known.push(state);
  }
  return histories;
}

/** Each operation is decided once, moves only as the table allows, from where it is, and never after its end. */
export function lifecycleFaults(entries: readonly Entry[]): string[] {
  const faults: string[] = [];
  const states = new Map<string, string>();
  const suspended = new Set<string>();
  for (const entry of entries) {
    const fault = faultOf(entry, states, suspended);
    if (fault !== undefined) faults.push(`entry ${entry.seq}: ${fault}`);
  }
  return faults;
}

function faultOf(entry: Entry, states: Map<string, string>, suspended: Set<string>): string | undefined {
  const op = opOf(entry);
  const state = states.get(op);
  const { event_type, decision, op_id, payload } = entry;
  if (event_type === 'AgentSuspended') suspended.add(agentOf(entry));
  if (event_type === 'AgentResumed') suspended.delete(agentOf(entry));
  if (event_type === 'OpStateChanged') {
    const { from, to, trigger } = payload;
    states.set(op, String(to));
    if (state !== from) return `${op} moves from ${String(from)}, and it is ${state}`;
    if (table[String(from)]?.[String(trigger)] !== to) return `${op} cannot ${String(trigger)} to ${String(to)}`;
    return undefined;
  }
  if (decision === null || op_id === null) return undefined;
  if (suspended.has(agentOf(entry))) return `${op} is decided while its agent is suspended`;
  if (isReplay(entry)) {
    if (state !== payload['op_state']) return `a replay calls ${op} ${String(payload['op_state'])}, and it is ${state}`;
    return replayOf[state ?? ''] === decision ? undefined : `a replay of ${op}, which is ${state}, says ${decision}`;
  }
  const after = String(payload['op_state']);
  states.set(op, after);
  if (state !== undefined) return `${op} is decided again`;
  return stateAfter[decision] === after ? undefined : `${op} is ${after} after the decision ${decision}`;
}

const endsOfApproval = new Set(['ApprovalGranted', 'ApprovalRejected', 'ApprovalExpired', 'ApprovalCancelled']);

/** Each approval is requested once, and decided once. */
export function approvalFaults(entries: readonly Entry[]): string[] {
  const faults: string[] = [];
  const open = new Map<string, boolean>();
  for (const { seq, event_type, payload } of entries) {
    const id = String(payload['approval_id']);
    if (event_type === 'ApprovalRequested') {
      if (open.has(id)) faults.push(`entry ${seq}: the approval ${id} is requested again`);
      open.set(id, true);
    } else if (endsOfApproval.has(event_type)) {
      if (open.get(id) !== true) faults.push(`entry ${seq}: the approval ${id} is decided, and was not open`);
      open.set(id, false);
    }
  }
  for (const [id, isOpen] of open) if (isOpen) faults.push(`the approval ${id} was never decided`);
  return faults;
}
