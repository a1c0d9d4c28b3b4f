import { paths } from '@reeve/contract';
import type { RpcRoutes, StreamHandler, UnaryHandler } from './rpc.ts';

/**
 * They answer by turns alone, and the journal sees to it that a turn knows all that was committed before it. So a check
 * does not wait for the store twice.
 */
const answeredByTurns: ReadonlySet<string> = new Set([
  paths.checkAction,
  paths.batchCheck,
  paths.checkStream,
  paths.completeAction,
  paths.ackOpControl,
  paths.deregisterAgent,
  paths.reportToolDefinitions,
  paths.renewToken,
  paths.delegateAgent,
  paths.revokeDelegation,
]);

/** The same routes. Those that answer by what is in memory first learn what other gateways have done. */
export function freshRoutes(routes: RpcRoutes, catchUp: () => Promise<void>): RpcRoutes {
  const { unary, stream } = routes;
  return {
    ...routes,
    unary: new Map(
      [...unary].map(([path, handler]) => [path, isCurrent(path) ? handler : afterwards(handler, catchUp)]),
    ),
    stream: new Map(
      [...stream].map(([path, handler]) => [path, isCurrent(path) ? handler : streamAfterwards(handler, catchUp)]),
    ),
  };
}

function isCurrent(path: string): boolean {
  return answeredByTurns.has(path);
}

function afterwards(handler: UnaryHandler, catchUp: () => Promise<void>): UnaryHandler {
  return async (message, call) => {
    await catchUp();
    return await handler(message, call);
  };
}

/**
 * Messages wait for it in order, and so does their end. Meanwhile no further ones are taken: anybody may open a stream,
 * and send faster than the store answers.
 */
function streamAfterwards(handler: StreamHandler, catchUp: () => Promise<void>): StreamHandler {
  return (stream, call) => {
    const listener = handler(stream, call);
    let last = Promise.resolve();
    let waiting = 0;
    const next = (work: () => Promise<void> | void) => {
      last = last.then(work).catch((error: unknown) => stream.fail(error));
    };
    return {
      ...listener,
      message: (message) => {
        const kept = Uint8Array.from(message);
        waiting++;
        stream.pause();
        next(async () => {
          await catchUp().finally(() => waiting--);
          listener.message(kept);
          if (waiting === 0) stream.resume();
        });
      },
      ended: () => next(() => listener.ended()),
    };
  };
}
