import { messageOf } from '@reeve/core';

/** `delivered`: the receiver took it. `refused`: it never will. `failed`: it may take it later. */
export interface Attempt {
  readonly outcome: 'delivered' | 'refused' | 'failed';
  /** For the log, without any part of the address. */
  readonly detail: string;
}

export interface Delivery {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Statuses that do not reject the message itself. */
const passing: ReadonlySet<number> = new Set([408, 425, 429]);

/** Sends one message, once. It follows no redirect, so that a signed message only goes where it was meant to go. */
export async function sendDelivery({ url, headers, body }: Delivery, signal: AbortSignal): Promise<Attempt> {
  try {
    const response = await fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal });
    await response.body?.cancel();
    const { status } = response;
    const detail = `status ${status}`;
    if (status >= 200 && status < 300) return { outcome: 'delivered', detail };
    return { outcome: status >= 500 || passing.has(status) ? 'failed' : 'refused', detail };
  } catch (error) {
    return { outcome: 'failed', detail: causeOf(error) };
  }
}

/** The cause behind "fetch failed", by its code if it has one, because messages name addresses. */
function causeOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  if (cause instanceof Error && 'code' in cause && typeof cause.code === 'string') return cause.code;
  return cause instanceof Error ? cause.name : messageOf(cause);
}
