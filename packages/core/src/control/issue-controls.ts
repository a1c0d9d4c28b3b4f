import type { Width, Principal } from '../access/index.ts';
import { isAtLeastAsWide, widest } from '../access/index.ts';
import type { Json } from '../audit/index.ts';
import { canonicalJson, draftOf } from '../audit/index.ts';
import type { Controls } from './controls.ts';
import { discardMessage } from './messages.ts';
import { leaveUnconfirmed, mustAnswer, entryMembers, saveReceipt } from './receipts.ts';
import { moveOp, givenUp, isDue } from '../ops/index.ts';
import type { Op, ControlAction, Receipt } from '../ops/index.ts';
import type { Agent } from '../tenancy/index.ts';

/** What to do with some operations, and for whom. */
export interface ControlOrder {
  readonly by: Pick<Principal, 'actor' | 'requestId'>;
  readonly action: ControlAction;
  /** Secrets are replaced already. */
  readonly reason: string;
  readonly cause: Receipt['cause'];
  readonly width: Width;
  readonly bulkId: string | null;
  readonly nextId: () => string;
}

/** How many messages an agent may leave unacknowledged, unless it has more operations than that. */
const mostUnacknowledged = 1000;

/**
 * Moves operations, makes a receipt for each, and puts the messages into the outboxes of their agents. Every operation
 * must allow the move. The messages leave once this turn is durable. An operation whose pause is taken over does not
 * move, but its agent is told again: it owes an answer to the new holder.
 */
export function issueControls(gov: Controls, ops: readonly Op[], order: ControlOrder): Receipt[] {
  const agents = new Set<Agent>();
  const receipts = ops.map((op) => {
    agents.add(op.owner);
    return issue(gov, op, order);
  });
  for (const { record } of agents) {
    const { lastSequence } = gov.control.outbox(record.id);
    const sequence = { agent: record.id, sequence: lastSequence };
    gov.journal.apply({ kind: 'control_sequence_saved', sequence });
  }
  for (const agent of agents) makeRoom(gov, agent);
  return receipts;
}

function issue(gov: Controls, op: Op, order: ControlOrder): Receipt {
  const { by, action, reason, cause, width, bulkId } = order;
  const { id: agent, controlled } = op.owner.record;
  const receipt: Receipt = {
    id: order.nextId(),
    bulkId,
    agent,
    opId: op.opId,
    action,
    actor: by.actor,
    reason,
    cause,
    width,
    owed: controlled,
    sequence: gov.control.outbox(agent).lastSequence + 1,
    requestedAt: gov.clock.now(),
    deliveredAt: null,
    ackedAt: null,
    effectiveAt: null,
    status: 'requested',
    detail: '',
    waiting: true,
    blocks: false,
    floor: op.floor,
    processes: null,
  };
  const request = by.requestId === undefined ? {} : { request_id: by.requestId };
  if (action === 'pause' && op.state === 'paused') noteWiderPause(gov, op, receipt, request);
  else {
    const details = { control_id: receipt.id, ...(cause === 'suspension' ? { cause } : {}), ...request };
    moveOp(gov, op, action, { actor: by.actor, reason, details, control: receipt });
  }
  saveReceipt(gov, null, receipt);
  return receipt;
}

/** Drops the most dispensable messages: an agent that does not listen must not fill the memory. */
export function makeRoom(gov: Controls, agent: Agent): void {
  const outbox = gov.control.outbox(agent.record.id);
  const most = Math.max(mostUnacknowledged, gov.ops.of(agent).size);
  for (let excess = outbox.size - most; excess > 0; excess--) {
    const queued = outbox.mostDispensable((opId) => gov.ops.find(agent, opId) !== undefined);
    if (queued === undefined) return;
    const { receipt } = queued;
    if (receipt === null) discardMessage(gov, outbox, queued);
    else if (outbox.isOvertaken(queued)) leaveUnconfirmed(gov, receipt, givenUp(receipt, 'overtaken'));
    else {
      // Many later messages must not rid an agent of a stop.
      const blocks = receipt.blocks || (isDue(receipt) && mustAnswer(gov, receipt));
      leaveUnconfirmed(gov, receipt, givenUp(receipt, 'too many messages are unacknowledged', blocks));
    }
  }
}

/**
 * The width that keeps an operation paused: that of its pause, or that of its agent's suspension if it is wider. A
 * pause without a recorded width counts as the operator's.
 */
export function pausedBy({ control, owner }: Op): Width {
  const pause = widthOfPause(control);
  const { suspension } = owner.record;
  return suspension === null ? pause : widest(pause, suspension.width);
}

/**
 * Whether a pause of this width takes over the pause of a narrower credential. Otherwise the first to pause could keep
 * a wider credential from holding the operation. A suspension does not count here: once it is lifted, only the pause
 * holds.
 */
export function widensPause({ state, control }: Op, width: Width): boolean {
  return state === 'paused' && !isAtLeastAsWide(widthOfPause(control), width);
}

function widthOfPause(control: Receipt | null): Width {
  return control?.width ?? 'unbound';
}

/**
 * The receipt will replace the pause that holds an operation. This is no transition, so none is announced. The entry names
 * the operation and the control: a restart reads from it who holds the operation.
 */
function noteWiderPause(gov: Controls, op: Op, receipt: Receipt, details: { readonly [member: string]: Json }): void {
  gov.journal.record(
    draftOf({
      ...entryMembers(gov, receipt),
      eventType: 'OpPauseWidened',
      actor: receipt.actor,
      reason: receipt.reason === '' ? null : receipt.reason,
      payload: canonicalJson({
        ...details,
        control_id: receipt.id,
        previous_width: widthOfPause(op.control),
        width: receipt.width,
      }),
    }),
    op,
  );
}
