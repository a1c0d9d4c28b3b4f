import { bounds } from '@reeve/contract';
import { ResultDenied } from '@reeve/sdk';
import type { HeldLimits, HeldRoom } from '../held-bytes.ts';
import type { ModelCall } from '../model-call.ts';
import { Refusal } from '../refusal.ts';
import type { CallOperation } from '../settlement.ts';
import { UnmaskablePrompt, withMaskedPrompt } from './masked-prompt.ts';

/** The prompt as a document, on its way to the gateway, as it comes back, and as the body that is sent. */
const copies = 4;

/** For all prompts that are masked at once. They cost their sender nothing, so they never take the room of answers, which are paid. */
export const promptLimits: HeldLimits = { most: copies * bounds.result, mostTogether: 512 * 1024 * 1024 };

/** Has the prompt of a call masked before anything of it leaves. Throws a refusal if that cannot be done: then nothing does. */
export async function maskPrompt(
  { body, opId, route, promptRoom }: Pick<ModelCall, 'body' | 'opId' | 'route' | 'promptRoom'>,
  operation: CallOperation,
): Promise<void> {
  const { request } = body;
  requireRoom(promptRoom, copies * Math.min(request.body.length, bounds.result), opId);
  try {
    const masked = await withMaskedPrompt(request, operation.checkPrompt);
    promptRoom.release();
    if (masked === request) return;
    requireRoom(promptRoom, masked.body.length, opId);
    body.replace(masked, route.dialect.bodyFor(masked));
  } catch (error) {
    promptRoom.release();
    if (error instanceof UnmaskablePrompt) {
      throw new Refusal('policy_denied', `Denied by policy: the prompt cannot be masked: ${error.message}`, opId);
    }
    if (!(error instanceof ResultDenied)) throw error;
    throw new Refusal(error.source === 'gateway' ? 'policy_denied' : 'gateway_unavailable', error.message, opId);
  }
}

function requireRoom(room: HeldRoom, bytes: number, opId: string): void {
  if (!room.take(bytes))
    throw new Refusal('overloaded', 'there is no room to mask further prompts at the moment', opId);
}
