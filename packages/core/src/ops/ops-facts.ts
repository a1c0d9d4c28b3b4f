import type { AlertEvent } from '../audit/index.ts';
import { balanceName, bookFact, tiersCharged } from '../budget/index.ts';
import type { TierOf } from '../budget/index.ts';
import type { Applying, Meanings, Touch, Undo } from '../journal/index.ts';
import {
  agentValues,
  clear,
  marksTable,
  noRows,
  nothingToApply,
  put,
  remove,
  restoring,
  touchesNobody,
  undoAll,
} from '../journal/index.ts';
import type { AgentId, Micros } from '../kernel/index.ts';
import { agentKey } from '../kernel/index.ts';
import { countsOf, endsIn } from '../runs/index.ts';
import type { Agent } from '../tenancy/index.ts';
import { reportName } from '../tenancy/index.ts';
import { isOver } from './lifecycle.ts';
import { isAnother, recordOf } from './op.ts';
import type { Op, OpRecord } from './op.ts';
import { rowOf } from './forgotten-rows.ts';
import { isInRow, isRowAsOf } from './in-row.ts';
import { judgedFacts } from './judged-facts.ts';
import { followUse } from './note-use.ts';
import { firstCheck, moveInRuns } from './op-in-run.ts';
import type { OpsState } from './operations.ts';
import { opsTable, replayFrom } from './ops-rows.ts';
import type { OpsChange, OpsChangeEvent } from './ops-slice.ts';
import { redoUntold } from './redo-untold.ts';
import { opIdName, rowsWritten } from './watched-ops.ts';

export const opsFacts: Meanings<OpsState, OpsChange | OpsChangeEvent | AlertEvent> = {
  ops_change: {
    apply: (state, fact, how) => {
      const undo = applyOp(state, fact.op, how, fact.booked === undefined ? 0 : fact.op.costMicros);
      const undoRun = state.runs.count(fact, how);
      if (fact.booked === undefined) return undoAll(undo, undoRun);
      return undoAll(undo, undoRun, bookFact(state.ledger.balances, fact));
    },
    touch: ({ agent }) => ({ agent: agentKey(agent) }),
    alters: ({ op, booked, checked }, state, isNext) => {
      const { reservedMicros: reserved } = op;
      // What is over may have reserved something before.
      const isCharge = isNext ? reservedOf(state, op) !== reserved : reserved !== 0 || isOver(op.state);
      return [
        opIdName(op.opId),
        ...(checked === true ? [countsOf(op)] : []),
        ...(isOver(op.state) ? [endsIn(op)] : []),
        ...(isCharge || booked !== undefined ? balancesOf(op) : []),
      ];
    },
    rows: noRows,
    redo: {
      ops: (state, { op }, how) => redoOp(state, op, how),
      untold: (state, { op }, how) => redoUntold(state, op, how),
      balances: ({ balances }, fact, { seq }) => balances.redo(fact, seq),
      runs: ({ runs }, fact, { seq }) => runs.redo(fact, seq),
    },
  },
  op_asked: {
    apply: (state, { op }, how) => undoAll(applyOp(state, op, how), state.runs.count(firstCheck(op), how)),
    touch: ({ op }) => ({ agent: agentKey(op.agent) }),
    alters: ({ op }) => [countsOf(op), ...balancesOf(op)],
    rows: noRows,
    redo: {
      ops: (state, { op }, how) => redoOp(state, op, how),
      untold: (state, { op }, how) => redoUntold(state, op, how),
      runs: ({ runs }, { op }, { seq }) => runs.redo(firstCheck(op), seq),
    },
  },
  op_saved: {
    apply: ({ directory, ops }, { op }, { isHere }) => {
      const agent = directory.find(op.agent);
      // If the agent has left, the rows of its operations left with it.
      return agent === undefined ? nothingToApply() : ops.noteSaved(agent, op.opId, op.seq, isHere);
    },
    touch: touchesNobody,
    alters: () => [rowsWritten],
    claims: ({ op }) => [rowsName(op.agent)],
    rows: ({ op }) => [put(opsTable, op)],
  },
  op_removed: {
    apply: applyRemoved,
    touch: touchesNobody,
    alters: () => [rowsWritten],
    claims: ({ id }) => [rowsName(id)],
    rows: ({ id, opId }) => [remove(opsTable, { ...agentValues(id), op_id: opId })],
    redo: {
      ops: (state, fact, how) => {
        if (isInRow(state, fact.id, fact.opId, how)) return;
        const agent = state.directory.find(fact.id);
        const known = agent && state.ops.find(agent, fact.opId);
        applyRemoved(state, fact, how);
        // A row that is there all the same was written by somebody who did not know that.
        if (known !== undefined && known.savedSeq > 0 && !state.ops.holds(known))
          state.ops.noteRowToRemove(rowOf(known));
      },
    },
  },
  ...judgedFacts,
  ops_replay_from: {
    apply: nothingToApply,
    touch: touchesNobody,
    rows: ({ seq }) => [put(marksTable, { name: replayFrom, value: seq })],
  },
  ops_forgotten: {
    apply: nothingToApply,
    touch: touchesNobody,
    rows: () => [clear(opsTable), put(marksTable, { name: replayFrom, value: null })],
  },
  audit_alert: {
    apply: (state, fact, how) => {
      const { ledger, reportedTools } = state;
      if (fact.reported !== undefined) return reportedTools.note(fact.reported);
      if (fact.movedBackTo === undefined) return applyAlert(state, fact, how);
      return undoAll(bookFact(ledger.balances, fact), ledger.goBack(fact.movedBackTo));
    },
    touch: touchOfAlert,
    alters: ({ alert, agent, details, reported = [] }, { directory, ops }) => {
      if (alert === 'tool_definition_changed') return reported.map(reportName);
      const opId = details['op_id'];
      if (alert !== 'reservation_released' || agent === null || typeof opId !== 'string') return [];
      const owner = directory.find(agent);
      const op = owner && ops.find(owner, opId);
      return op === undefined ? [] : balancesOf(recordOf(op));
    },
    rows: noRows,
    redo: {
      ops: (state, fact, how) => {
        const opId = fact.details['op_id'];
        if (fact.agent === null || typeof opId !== 'string' || isInRow(state, fact.agent, opId, how)) return;
        applyAlert(state, fact, how);
      },
      balances: ({ balances }, fact, { seq }) => balances.redo(fact, seq),
    },
  },
};

/**
 * The rows of an agent's operations. Whoever writes one must know who has removed it: nobody would remove it again. And
 * whoever removes them all must know all that were written.
 */
export function rowsName(agent: AgentId): string {
  return `rows of operations ${agentKey(agent)}`;
}

function reservedOf({ directory, ops }: Pick<OpsState, 'directory' | 'ops'>, { agent, opId }: OpRecord): Micros {
  const owner = directory.find(agent);
  return (owner && ops.find(owner, opId)?.reservedMicros) ?? 0;
}

function balancesOf(op: OpRecord): readonly string[] {
  return tiersCharged(op).map(balanceName);
}

function applyRemoved(
  { directory, ops }: OpsState,
  { id, opId }: Extract<OpsChange, { readonly kind: 'op_removed' }>,
  { isHere }: Applying,
): Undo {
  const agent = directory.find(id);
  const op = agent && ops.find(agent, opId);
  // It was swept, and its agent may have left. If the row stays after all, it is still to be removed.
  if (op === undefined) return isHere ? () => ops.noteRowToRemove({ id, opId, savedSeq: 1 }) : nothingToApply();
  // Whoever swept it elsewhere did not know of another one with its id that has begun here.
  return isHere || op.hasEnded ? ops.forget(op) : nothingToApply();
}

function redoOp(state: OpsState, record: OpRecord, { seq }: Applying): void {
  const agent = state.directory.find(record.agent);
  if (agent === undefined) return;
  const known = state.ops.find(agent, record.opId);
  if (!isRowAsOf(known, seq)) restoreOp(state, agent, known, record, seq);
}

/** Brings an operation to what a row or a fact of an earlier run says. `known` is the one with that id, if any. */
export function restoreOp(state: OpsState, agent: Agent, known: Op | undefined, record: OpRecord, seq: number): void {
  const { clock } = state;
  const movedAt = clock.elapsed() - Math.max(0, clock.now() - record.updatedAt);
  applyOpOf(state, agent, known, record, { ...restoring, seq, movedAt });
}

/**
 * An operation became known, was decided, moved or changed: the record says how it is now. What it reserves changes with
 * it, and what is under way in its run. `settled` is what the budgets were charged instead.
 */
function applyOp(state: OpsState, record: OpRecord, how: Applying, settled: Micros = 0): Undo {
  const agent = state.directory.find(record.agent);
  if (agent === undefined) return nothingToApply();
  return applyOpOf(state, agent, state.ops.find(agent, record.opId), record, how, settled);
}

/** `movedAt`: when the operation moved, on the monotonic clock, if that was before now: a restart replays the log. */
function applyOpOf(
  state: OpsState,
  agent: Agent,
  known: Op | undefined,
  record: OpRecord,
  how: Applying & { readonly movedAt?: number },
  settled: Micros = 0,
): Undo {
  const { ops, ledger, runs, clock } = state;
  const { isHere, movedAt = clock.elapsed() } = how;
  const isReplay = how.movedAt !== undefined;
  const tiers = tiersCharged(record);
  const before = known === undefined || isAnother(known, record) ? undefined : known;
  const isFirstCheck = record.digest !== '' && (before === undefined || before.digest === '');
  const reserved = record.reservedMicros - (known?.reservedMicros ?? 0);
  if (!isHere) agent.isHere = false;
  const seq = isHere ? undefined : how.seq;
  const undo = undoAll(
    moveInRuns(runs, known, record),
    ops.put(agent, known, record, { movedAt, seq, isDurable: !isHere }),
    reserved === 0 ? nothingToApply() : ledger.balances.reserve(tiers, reserved),
    isHere && reserved < 0 ? noteReleased(state, tiers, -reserved - settled, how) : nothingToApply(),
  );
  if (isHere && isOver(record.state)) {
    const ended = ops.find(agent, record.opId);
    if (ended !== undefined) how.onDurable(() => ops.noteEnded(ended));
  }
  if (isReplay) return nothingToApply();
  // The gateway that decided writes the use. One that was known and still waits does not say when it was asked about.
  if (!isHere && isFirstCheck && (before === undefined || record.state !== 'pending')) followUse(state, record);
  return undo;
}

/** A start learns that an operation is no more. It may have a row, which is then to be removed. */
export function dropOp(
  { ops, ledger }: Pick<OpsState, 'ops'> & { readonly ledger: Pick<OpsState['ledger'], 'balances'> },
  op: Op,
): void {
  ops.forget(op);
  // The row may be that of a later operation with its id, which a later fact brings back.
  if (op.savedSeq > 0) ops.noteRowToRemove(rowOf(op));
  ledger.balances.reserve(tiersOfOp(op), -op.reservedMicros);
}

/** The tiers that an operation is charged to. */
export function tiersOfOp({ owner, delegators }: Op): readonly TierOf[] {
  return tiersCharged({ agent: owner.record.id, delegators });
}

/**
 * The release counts only once it is durable. Otherwise a charge could rest on it and come before it in the log, if another
 * gateway charges the same caps first.
 */
function noteReleased({ ledger, journal }: OpsState, tiers: readonly TierOf[], amount: Micros, how: Applying): Undo {
  if (amount <= 0 || !journal.isShared) return nothingToApply();
  const settle = ledger.noteReleased(tiers, amount);
  how.onDurable(settle);
  return settle;
}

/** The agent of an operation is silent, or is back. */
function applyAlert(state: OpsState, { agent: id, alert, details }: AlertEvent, how: Applying): Undo {
  const { directory, ops, ledger } = state;
  if (id === null || (alert !== 'op_back' && alert !== 'op_stale' && alert !== 'reservation_released')) {
    return nothingToApply();
  }
  const agent = directory.find(id);
  const opId = details['op_id'];
  const op: Op | undefined = agent === undefined || typeof opId !== 'string' ? undefined : ops.find(agent, opId);
  if (agent === undefined || op === undefined) return nothingToApply();
  if (alert === 'op_back') {
    agent.silent = false;
    const undo = ops.change(op, { stale: false });
    return () => {
      undo();
      // The next sign of life tells of it again.
      agent.silent = true;
    };
  }
  agent.silent = true;
  const { reservedMicros, state: opState } = op;
  // An operation that does not run is not stale: nobody waits for it.
  const stale = opState === 'running';
  if (alert === 'op_stale') return ops.change(op, { stale });
  const tiers = tiersOfOp(op);
  return undoAll(
    ops.change(op, { reservedMicros: 0, stale }),
    ledger.balances.reserve(tiers, -reservedMicros),
    how.isHere ? noteReleased(state, tiers, reservedMicros, how) : nothingToApply(),
  );
}

function touchOfAlert({ alert, agent, movedBackTo }: AlertEvent): Touch {
  if (movedBackTo !== undefined) return 'everything';
  // No decision rests on these.
  if (alert === 'impersonation' || alert === 'tool_definition_changed') return undefined;
  return agent === null ? undefined : { agent: agentKey(agent) };
}
