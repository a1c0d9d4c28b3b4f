import { expect, test } from 'vitest';
import type { CallStop } from '../call-stop.ts';
import { openaiChat } from '../dialect/openai-chat.ts';
import { HeldBytes } from '../held-bytes.ts';
import { parseRequest } from '../json-request.ts';
import type { ModelCall } from '../model-call.ts';
import type { CallOperation } from '../settlement.ts';
import { LiveForward } from './live-forward.ts';
import { maskPrompt } from './mask-prompt.ts';

const route = { path: '/v1/chat/completions', dialect: openaiChat };

test('prompts that are masked have a bound, and what was masked is free again', async () => {
  const request = parseRequest(Buffer.from(JSON.stringify({ model: 'm', messages: [{ content: 'x'.repeat(200) }] })));
  const rooms = new HeldBytes({ most: 1000, mostTogether: 2000 });
  const replaced: string[] = [];
  const body = { request, replace: (_: unknown, bytes: Buffer) => replaced.push(bytes.toString()) };
  const callIn = (answerRoom: ModelCall['answerRoom']) =>
    ({ body, opId: 'o', route, answerRoom }) as unknown as ModelCall;
  const judged = Promise.withResolvers<void>();
  const checkPrompt = async (prompt: string) => {
    await judged.promise;
    return prompt.replace(/x+/, 'y');
  };
  const operation = { checkPrompt } as unknown as CallOperation;
  const [first, second] = [rooms.roomFor('a'), rooms.roomFor('b')];
  const masking = maskPrompt(callIn(first), operation);
  await expect(maskPrompt(callIn(second), operation)).rejects.toMatchObject({ code: 'overloaded' });
  judged.resolve();
  await masking;
  expect(replaced.join()).toContain('"content":"y"');
  await maskPrompt(callIn(second), operation);
  expect(replaced).toHaveLength(2);
});

test('a stream of which there is no room for copies is held until it is whole', async () => {
  let asked = 0;
  const operation = {
    checkStreamed: async ({ text }: { text: string }) => {
      asked++;
      return { read: '', rest: text };
    },
  } as unknown as CallOperation;
  const live = (mostTogether: number) => {
    const answerRoom = new HeldBytes({ most: 1, mostTogether }).roomFor('a');
    const call = { route, upstream: {}, answerRoom, opId: 'o' } as unknown as ModelCall;
    return new LiveForward(call, operation, () => {});
  };
  const chunk = Buffer.from(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'Hello' } }] })}\n\n`);
  await live(10_000).take(chunk, {} as CallStop);
  expect(asked).toBe(1);
  await live(chunk.length).take(chunk, {} as CallStop);
  expect(asked).toBe(1);
});
