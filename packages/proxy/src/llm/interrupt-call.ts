import type { ModelCall } from './model-call.ts';
import type { Refusal } from './refusal.ts';
import { sendRefusal } from './send-refusal.ts';
import { dataOf } from './sse.ts';

/** Ends a stream with an error of its protocol. */
export function interrupt(call: ModelCall, refusal: Refusal): void {
  const { response, route, passed } = call;
  if (!passed.isStream) return abandon(call, refusal);
  const last = passed.last === undefined ? '' : dataOf(passed.last);
  response.end(route.dialect.errorEvent(refusal, last));
}

/** Without a way to say it, the connection breaks off, as the client would see it without a proxy. */
export function abandon({ response, route }: ModelCall, refusal: Refusal): void {
  if (response.headersSent) response.destroy();
  else sendRefusal(response, route.dialect.kind, refusal);
}
