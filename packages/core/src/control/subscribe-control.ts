import type { Controls } from './controls.ts';
import type { Agent } from '../tenancy/agent.ts';
import type { AgentId } from '../kernel/ids.ts';
import { authenticateAgent, credentialEnded, touchAgent } from '../tenancy/identify.ts';
import type { ControlSink, ControlStream } from './outbox.ts';
import { sendWaiting } from './messages.ts';

export interface SubscribeRequest {
  readonly agentId: AgentId | undefined;
  readonly token: string;
  /** Messages up to this one are not wanted again. */
  readonly afterSequence: number;
}

export interface ControlSubscription {
  /** The reader keeps up again. */
  drained(): void;
  close(): void;
}

/**
 * The agent listens: it gets every message that it has not acknowledged, in order, then those to come. A sequence that
 * was never reached hides nothing that is still to come.
 */
export async function subscribeControl(
  gov: Controls,
  request: SubscribeRequest,
  sink: ControlSink,
): Promise<ControlSubscription> {
  const agent = authenticateAgent(gov, request.agentId, request.token);
  const { tokenHash } = agent.record;
  if (!agent.record.controlled && tokenHash !== null) {
    setControlled(gov, agent, tokenHash);
    await gov.journal.committed();
    if (agent.record.tokenHash !== tokenHash || gov.directory.find(agent.record.id) !== agent) throw credentialEnded();
  }
  const outbox = gov.control.outbox(agent.record.id);
  const cursor = Math.min(request.afterSequence, outbox.lastSequence);
  const stream: ControlStream = { sink, cursor, stalled: false };
  outbox.streams.add(stream);
  sendWaiting(gov, outbox, stream);
  return {
    drained: () => {
      stream.stalled = false;
      if (outbox.streams.has(stream)) sendWaiting(gov, outbox, stream);
    },
    close: () => {
      if (outbox.streams.delete(stream)) touchAgent(gov, agent);
    },
  };
}

function setControlled(gov: Controls, agent: Agent, tokenHash: string): void {
  const { record, lastSeenAt } = agent;
  gov.directory.put({ ...record, controlled: true }, lastSeenAt);
  gov.journal.onFailure(() => gov.directory.put(record, lastSeenAt));
  gov.journal.write({ kind: 'agent_controlled', id: record.id, tokenHash });
}
