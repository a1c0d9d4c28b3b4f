import { historiesOf } from './lifecycle.ts';
import type { Read } from './reads.ts';
import { readFaults } from './reads.ts';
import type { Entry } from './log.ts';
import { agentOf, isDecision, isReplay, opOf } from './log.ts';

/** An answer to a check, in words. */
export interface Answer {
  readonly decision: string;
  readonly reason: string;
  /** Empty if the agent was refused without an operation. */
  readonly opId: string;
  readonly approvalId: string;
}

/** A check of one operation, however often and wherever it was asked. */
export interface Asked {
  readonly agent: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly attempts: number;
  /** Every answer that arrived. */
  readonly answers: readonly Answer[];
}

/** A refusal to complete an operation that its agent knows to be allowed. */
export interface Refused {
  readonly op: string;
  /** How often its completion had been sent by then, this time included. */
  readonly attempts: number;
  readonly says: string;
}

/** What clients were told, in order. */
export interface Told {
  readonly checks: readonly Asked[];
  /** Operations whose completion was confirmed. */
  readonly completed: readonly { readonly op: string; readonly costMicros: number }[];
  readonly refused: readonly Refused[];
  /** Ids of controls that were accepted. */
  readonly controls: readonly string[];
  readonly verdicts: readonly { readonly approvalId: string; readonly state: string }[];
  readonly registered: readonly string[];
  /** Only those whose gateway could ask the database. */
  readonly reads: readonly Read[];
}

/** What was told is in the log, once, and says the same. */
export function toldFaults(told: Told, entries: readonly Entry[]): string[] {
  const byOp = Map.groupBy(
    entries.filter(({ decision, op_id }) => decision !== null && op_id !== null),
    opOf,
  );
  const refusals = Map.groupBy(
    entries.filter(({ decision, op_id }) => decision !== null && op_id === null),
    (entry) => `${agentOf(entry)} ${entry.trace_id}:${entry.span_id}`,
  );
  const histories = historiesOf(entries);
  const completions = Map.groupBy(
    entries.filter(({ payload }) => payload['to'] === 'completing'),
    opOf,
  );
  const faults: string[] = [];
  for (const asked of told.checks) {
    const op = `${asked.agent} ${asked.traceId}:${asked.spanId}`;
    const ofOp = byOp.get(op) ?? [];
    const ofAgent = refusals.get(op) ?? [];
    const found = [...ofOp, ...ofAgent];
    if (found.length > asked.attempts) {
      faults.push(`${op} was asked ${asked.attempts} times, and is in the log ${found.length} times`);
    }
    for (const answer of asked.answers) {
      const fault = answerFault(answer, answer.opId === '' ? ofAgent : ofOp, histories.get(op) ?? []);
      if (fault !== undefined) faults.push(`${op}: ${fault}`);
    }
  }
  for (const { op, costMicros } of told.completed) {
    const costs = (completions.get(op) ?? []).map(({ payload }) => payload['cost_micros']);
    if (costs.length !== 1 || costs[0] !== costMicros) {
      faults.push(`${op} was completed at ${costMicros}, and the log says [${costs.join(', ')}]`);
    }
  }
  for (const { op, says, attempts } of told.refused) {
    const state = /operation that is (\w+)/.exec(says)?.[1];
    if (state === 'completing' && attempts === 1) {
      faults.push(`${op} was completed by nobody else, and its completion was refused: "${says}"`);
    } else if (state === undefined || histories.get(op)?.includes(state) !== true) {
      faults.push(`${op} could not be completed: "${says}", and the log says [${histories.get(op)?.join(', ')}]`);
    }
  }
  return [
    ...faults,
    ...once('control', told.controls, idsOf(entries, ['OpControlRequested'], 'control_id')),
    ...once(
      'verdict',
      told.verdicts.map(({ approvalId, state }) => `${approvalId} ${state}`),
      [
        ...idsOf(entries, ['ApprovalGranted'], 'approval_id').map((id) => `${id} approved`),
        ...idsOf(entries, ['ApprovalRejected'], 'approval_id').map((id) => `${id} rejected`),
      ],
    ),
    ...missingAgents(told.registered, entries),
    ...readFaults(told.reads, entries),
  ];
}

/** Whether an entry says what the client was told. A termination that came in between wins. */
function answerFault(answer: Answer, entries: readonly Entry[], history: readonly string[]): string | undefined {
  const { decision, reason, opId, approvalId } = answer;
  if (opId !== '') {
    const decisions = entries.filter(isDecision);
    if (decisions.length !== 1) return `it was answered, and is decided ${decisions.length} times`;
  }
  const fits = (entry: Entry) =>
    entry.decision === decision &&
    entry.reason === reason &&
    (approvalId === '' || entry.payload['approval_id'] === approvalId);
  if (entries.some(fits)) return undefined;
  const isOvertaken = decision === 'deny' && reason === 'operation is terminated' && history.at(-1) === 'terminated';
  if (isOvertaken && entries.some((entry) => entry.decision !== 'deny')) return undefined;
  const said = entries.map((entry) => `${entry.decision}${isReplay(entry) ? ' again' : ''}: ${entry.reason}`);
  return `the client was told "${decision}: ${reason}", and the log says [${said.join('; ')}]`;
}

function idsOf(entries: readonly Entry[], types: readonly string[], member: string): string[] {
  return entries.flatMap(({ event_type, payload }) => (types.includes(event_type) ? [String(payload[member])] : []));
}

function once(what: string, told: readonly string[], logged: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const id of logged) counts.set(id, (counts.get(id) ?? 0) + 1);
  return [...new Set(told)].flatMap((id) => {
    const count = counts.get(id) ?? 0;
    return count === 1 ? [] : [`the ${what} ${id} was confirmed, and the log has it ${count} times`];
  });
}

function missingAgents(told: readonly string[], entries: readonly Entry[]): string[] {
  const logged = new Set(entries.filter(({ event_type }) => event_type === 'AgentRegistered').map(agentOf));
  return told.flatMap((agent) => (logged.has(agent) ? [] : [`${agent} was registered, and the log has no such agent`]));
}
