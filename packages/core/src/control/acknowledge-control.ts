import { canonicalJson, draftOf, redactText } from '../audit/index.ts';
import { checkLength, longest, ReeveError } from '../kernel/index.ts';
import type { Controls } from './controls.ts';
import type { Agent } from '../tenancy/index.ts';
import { actorOf, authenticateAgent } from '../tenancy/index.ts';
import type { AgentId } from '../kernel/index.ts';
import { alertOf, entryMembers, saveReceipt } from './receipts.ts';
import { discardMessage } from './messages.ts';
import type { ControlWord, Receipt } from '../ops/index.ts';
import { acknowledged, evidenceOf } from '../ops/index.ts';

export interface AckRequest extends ControlWord {
  readonly agentId: AgentId | undefined;
  readonly token: string;
  readonly sequence: number;
}

/** The acknowledging agent, and the stored receipt if it is no longer in memory. */
interface Acknowledging {
  readonly agent: Agent;
  readonly stored: Receipt | undefined;
}

export function readAcknowledged(gov: Controls, request: AckRequest): Acknowledging | Promise<Acknowledging> {
  const agent = authenticateAgent(gov, request.agentId, request.token);
  checkLength('detail', request.detail, longest.text);
  if (isInMemory(gov, agent, request.sequence)) return { agent, stored: undefined };
  return gov.control.reader.receiptOf(agent.record.id, request.sequence).then((stored) => ({ agent, stored }));
}

/** The agent reports what became of a control message: it was received, it took effect, or it failed. */
export function acknowledgeControl(gov: Controls, request: AckRequest, { agent, stored }: Acknowledging): void {
  const { sequence } = request;
  // Another call may have moved the receipt during the read, so memory comes first.
  const receipt = gov.control.receiptOf(agent.record.id, sequence) ?? shownBy(gov, agent, stored) ?? stored;
  // The floor's operation says so at its check. Of any other, and of a message that holds nothing, the kernel says nothing.
  if (request.processes !== null && receipt?.floor !== true) {
    throw new ReeveError(
      'not_on_a_floor',
      'the kernel speaks only of operations on a floor, by the credential that began them',
    );
  }
  if (receipt === undefined) discard(gov, agent, sequence);
  else acknowledge(gov, agent, receipt, request);
}

function acknowledge(gov: Controls, agent: Agent, before: Receipt, { outcome, processes, ...said }: ControlWord): void {
  const detail = redactText(said.detail);
  const after = acknowledged(before, { outcome, detail, processes }, gov.clock.now());
  if (after === before) return;
  saveReceipt(gov, before, after);
  gov.journal.record(
    draftOf({
      ...entryMembers(gov, after),
      eventType: 'OpControlAcknowledged',
      actor: actorOf(agent),
      payload: canonicalJson({
        action: after.action,
        control_id: after.id,
        detail,
        evidence: evidenceOf(after),
        outcome,
        ...(processes === null ? {} : { processes }),
        sequence: after.sequence,
      }),
    }),
  );
  if (after.status === 'failed') gov.journal.apply(alertOf(gov, after, 'control_failed'));
}

function isInMemory(gov: Controls, agent: Agent, sequence: number): boolean {
  const known = gov.control.receiptOf(agent.record.id, sequence);
  return known !== undefined || gov.control.find(agent.key)?.find(sequence) !== undefined;
}

/** The same receipt as its operation holds it, if it does. */
function shownBy(gov: Controls, agent: Agent, stored: Receipt | undefined): Receipt | undefined {
  const shown = stored === undefined ? undefined : gov.ops.find(agent, stored.opId)?.control;
  return shown?.id === stored?.id ? (shown ?? undefined) : undefined;
}

/** Discards a message without a receipt. Acknowledging it again is no mistake. */
function discard(gov: Controls, agent: Agent, sequence: number): void {
  const outbox = gov.control.outbox(agent.record.id);
  if (sequence < 1 || sequence > outbox.lastSequence) {
    throw new ReeveError('control_not_found', `no control message ${sequence} was sent to this agent`);
  }
  const queued = outbox.find(sequence);
  if (queued !== undefined) discardMessage(gov, outbox, queued);
}
