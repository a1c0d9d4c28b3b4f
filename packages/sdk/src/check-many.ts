import type { BatchCheckResponse } from '@reeve/contract';
import type { Answer } from './answer.ts';
import { answerOf } from './answer.ts';
import { ReeveInternal, ReeveInvalidRequest } from './errors.ts';
import type { GatewayLink } from './gateway-link.ts';
import type { Limits } from './outage/retry.ts';
import type { PreparedCheck } from './prepare-check.ts';
import { withToken } from './prepare-check.ts';
import { bytesOf, isTooLarge, requireSendable, rpc } from './rpc-methods.ts';

const mostInBatch = 1000;

/** A batch, and the index of its first check among all checks. */
export interface Batch {
  readonly from: number;
  readonly checks: readonly PreparedCheck[];
  readonly bytes: Buffer;
}

/** Splits by what the gateway takes at once: a number of checks and a number of bytes. */
export function batchesOf(checks: readonly PreparedCheck[], from = 0): Batch[] {
  if (checks.length === 0) return [];
  if (checks.length > mostInBatch) return splitAt(mostInBatch, checks, from);
  const bytes = bytesOf(rpc.batchCheck, { requests: checks.map((check) => check.message) });
  if (isTooLarge(bytes) && checks.length > 1) return splitAt(checks.length >> 1, checks, from);
  return [{ from, checks, bytes: requireSendable(bytes) }];
}

/** The same checks, with a token in place of the one that they were prepared with. */
export function batchWithToken(batch: Batch, credentialToken: string): Batch {
  if (batch.checks.every(({ message }) => message.credentialToken === credentialToken)) return batch;
  const checks = batch.checks.map((check) => withToken(check, credentialToken));
  const bytes = bytesOf(rpc.batchCheck, { requests: checks.map(({ message }) => message) });
  return { ...batch, checks, bytes: requireSendable(bytes) };
}

export async function checkBatch(link: GatewayLink, batch: Batch, limits: Limits): Promise<Answer[]> {
  const { responses } = await sendBatch(link, batch, limits);
  return batch.checks.map(({ ids }, index) => {
    const response = responses[index];
    if (response === undefined) throw new ReeveInternal('the gateway answered fewer checks than were asked');
    return answerOf(response, ids);
  });
}

async function sendBatch(link: GatewayLink, batch: Batch, limits: Limits): Promise<BatchCheckResponse> {
  try {
    return await link.sendBytes(rpc.batchCheck, batch.bytes, limits);
  } catch (error) {
    if (!(error instanceof ReeveInvalidRequest)) throw error;
    throw new ReeveInvalidRequest(placed(error.message, batch.from));
  }
}

function splitAt(at: number, checks: readonly PreparedCheck[], from: number): Batch[] {
  return [...batchesOf(checks.slice(0, at), from), ...batchesOf(checks.slice(at), from + at)];
}

/** The gateway counts within the batch. The caller counts within all checks. */
function placed(message: string, from: number): string {
  return message.replace(/^requests\[(\d+)\]/, (_, index: string) => `checks[${Number(index) + from}]`);
}
