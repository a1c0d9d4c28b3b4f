import { ResultDenied } from '@reeve/sdk';
import type { ModelCall } from '../model-call.ts';
import { Refusal } from '../refusal.ts';
import type { CallOperation } from '../settlement.ts';
import { UnmaskablePrompt, withMaskedPrompt } from './masked-prompt.ts';

/** Has the prompt of a call masked before anything of it leaves. Throws a refusal if that cannot be done: then nothing does. */
export async function maskPrompt(
  { body, opId, route }: Pick<ModelCall, 'body' | 'opId' | 'route'>,
  operation: CallOperation,
): Promise<void> {
  try {
    const masked = await withMaskedPrompt(body.request, operation.checkPrompt);
    if (masked !== body.request) body.replace(masked, route.dialect.bodyFor(masked));
  } catch (error) {
    if (error instanceof UnmaskablePrompt) {
      throw new Refusal('policy_denied', `Denied by policy: the prompt cannot be masked: ${error.message}`, opId);
    }
    if (!(error instanceof ResultDenied)) throw error;
    throw new Refusal(error.source === 'gateway' ? 'policy_denied' : 'gateway_unavailable', error.message, opId);
  }
}
