import type { Agent, Operation } from '@reeve/sdk';
import { expect, it } from 'vitest';
import { toolSubject } from './call-subject.ts';
import { ToolCatalog } from './lock/tool-catalog.ts';
import type { PendingRequest } from './pending-requests.ts';
import { messageOf } from './protocol/message.ts';
import { toolsGoverned } from './server-spec.ts';
import { startCall } from './start-call.ts';
import { ownExchange } from './transport/exchange.ts';

/** A call whose answer arrives, and what happens at the checkpoint that holds it back. */
async function withheldAfter(
  checkpoint: (pending: PendingRequest) => Promise<void>,
  canRepeat = true,
): Promise<boolean> {
  const exchange = ownExchange(undefined);
  const request = { id: 1, method: 'tools/call', params: { name: 'echo' } };
  const message = messageOf({ jsonrpc: '2.0', ...request });
  const made: { pending?: PendingRequest } = {};
  let isWithheld = false;
  const operation = {
    answer: { judgeResult: false },
    signal: new AbortController().signal,
    state: 'paused',
    ended: () => {},
    note: () => {},
    checkpoint: async () => (made.pending === undefined ? undefined : checkpoint(made.pending)),
  } as unknown as Operation;
  const agent = { run: (_: unknown, act: (each: Operation) => Promise<unknown>) => act(operation) } as unknown as Agent;
  const governor = {
    server: 's',
    agent: async () => agent,
    ...toolsGoverned,
    approvalWaitMs: 0,
    showDenied: false,
    failOpen: false,
    warn: () => {},
  };
  const catalog = new ToolCatalog({ lock: () => undefined, warn: () => {}, onChanged: () => {} });
  const asked = { request, message, exchange, tool: 'echo', list: undefined, denial: undefined };
  const subject = toolSubject(asked, catalog);
  const { done } = startCall({ request, exchange, runId: 'r', subject }, governor, {
    track: (handlers) =>
      (made.pending = { ...request, exchange, token: undefined, envelope: undefined, ...handlers } as PendingRequest),
    send: async () => {
      if (made.pending === undefined) return;
      made.pending.isAnswered = true;
      made.pending.arrived?.({ exchange, message: messageOf({ jsonrpc: '2.0', id: 1, result: {} }) });
    },
    withhold: () => (isWithheld = true),
    canRepeat,
    stop: async () => {},
    judge: () => {},
    give: async () => {},
  });
  await done;
  return isWithheld;
}

it('holds back a result that has arrived and is not given, however that comes', async () => {
  expect(await withheldAfter(async () => {})).toBe(false);
  expect(
    await withheldAfter(async () => {
      throw new Error('stopped while it was paused');
    }),
  ).toBe(true);
  expect(await withheldAfter(async ({ cancel }) => cancel?.(undefined))).toBe(true);
});

it('forgets the id of a result that is not given where the server cannot repeat it', async () => {
  const stopped = async () => {
    throw new Error('stopped while it was paused');
  };
  expect(await withheldAfter(stopped, false)).toBe(false);
});
