import type { Agent } from '@reeve/sdk';
import { ActionDeniedError, ReeveInvalidRequest } from '@reeve/sdk';
import type { UpstreamContext } from './carry-out.ts';
import { carryOut } from './carry-out.ts';
import type { ModelCall } from './model-call.ts';
import type { KnownMasks } from './results/known-masks.ts';

export interface GovernOptions extends UpstreamContext {
  /** How long a call waits for its approval. */
  readonly approvalWaitMs: number;
  readonly knownMasks: KnownMasks;
}

/** The operation of a call, as the gateway gets to know it. */
export interface CallIds {
  readonly traceId: string;
  readonly spanId: string;
  readonly runId: string | undefined;
  readonly subjectToken: string | undefined;
}

/**
 * Asks whether a call may happen, does it, and reports what it used. Throws if it may not. Once the call has begun it
 * answers its client by itself, whatever becomes of the report.
 */
export async function governCall(agent: Agent, call: ModelCall, ids: CallIds, options: GovernOptions): Promise<void> {
  const { asked, upstream, gone, opId } = call;
  let hasBegun = false;
  try {
    const run = agent.run(
      { type: 'llm_call', ...asked },
      async (operation) => {
        hasBegun = true;
        if (operation.answer.judgePrompt) options.knownMasks.note(asked.model);
        await carryOut(call, operation, options);
      },
      {
        ...ids,
        via: { door: 'model', name: upstream.name },
        canMaskPrompt: true,
        waitMs: options.approvalWaitMs,
        signal: gone,
        // From here on nothing passes: every part of the answer waits for the end of the pause.
        onControl: () => {},
      },
    );
    setImmediate(makeReady, call);
    await run;
  } catch (error) {
    if (hasBegun) return await reportWithoutUsage(agent, opId, error);
    if (gone.aborted || (error instanceof ActionDeniedError && error.answer.decision === 'pending')) {
      await callOff(agent, opId);
    }
    if (!gone.aborted) throw error;
  }
}

/** What the upstream gets is made ready while the gateway decides. It leaves once the gateway has allowed it. */
function makeReady({ outgoing, body }: ModelCall): void {
  try {
    outgoing(body.length);
  } catch {
    // The same happens to whoever wants to send it.
  }
}

/** A usage that the gateway does not accept must not leave the operation open. */
async function reportWithoutUsage(agent: Agent, opId: string, error: unknown): Promise<void> {
  if (error instanceof ReeveInvalidRequest) await agent.complete(opId, { outcome: 'failed' }).catch(() => {});
}

/** Nobody waits for the call any more. Without an operation, or with one that is over, there is nothing to do. */
async function callOff(agent: Agent, opId: string): Promise<void> {
  const completion = { outcome: 'cancelled', actualCostMicros: 0, detail: 'nobody waits for it any more' } as const;
  await agent.complete(opId, completion).catch(() => {});
}
