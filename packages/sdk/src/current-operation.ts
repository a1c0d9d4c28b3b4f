import { AsyncLocalStorage } from 'node:async_hooks';
import type { FullAgentId } from './agent-id.ts';
import type { Operation } from './operation.ts';

/** The governed call that the present code runs in. */
export interface CallContext {
  readonly operation: Operation;
  readonly agent: FullAgentId;
  readonly runId: string | undefined;
}

/** @internal */
export const callContext = new AsyncLocalStorage<CallContext>();

/**
 * The operation of the governed tool that the caller is a part of: to pass a checkpoint, to say what the call cost, or to
 * hand on its signal. Undefined outside of tools that an adapter governs.
 */
export function currentOperation(): Operation | undefined {
  return callContext.getStore()?.operation;
}
