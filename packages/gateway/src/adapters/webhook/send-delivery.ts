import { messageOf } from '@reeve/core';

/** `delivered`: taken. `refused`: it will never be. `failed`: it may be another time. */
export interface Attempt {
  readonly outcome: 'delivered' | 'refused' | 'failed';
  /** For the log; without anything of the address. */
  readonly detail: string;
}

export interface Delivery {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Statuses that say nothing against the message itself. */
const passing: ReadonlySet<number> = new Set([408, 425, 429]);

/** Sends one message, once. A redirect is not followed: a signed message goes where it was meant to go. */
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

/** What is behind "fetch failed", by its code where it has one: messages name addresses. */
function causeOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  if (cause instanceof Error && 'code' in cause && typeof cause.code === 'string') return cause.code;
  return cause instanceof Error ? cause.name : messageOf(cause);
}
