import { readFile } from 'node:fs/promises';
import { inspect } from 'node:util';
import { status } from '@grpc/grpc-js';
import type { CheckResultRequest, CompleteActionRequest } from '@reeve/contract';
import { Decision, JudgedPart, outcomeNames } from '@reeve/contract';
import { describe, expect, test } from 'vitest';
import type { Client } from '../test/client.ts';
import { startClient } from '../test/client.ts';
import { eventually } from '../../../tests/harness/eventually.ts';
import { answering, judging, masking, passing, unavailable } from '../test/scripted-answers.ts';
import type { Script } from '../test/scripted-gateway.ts';
import { MaskedError, OperationTerminatedError, ResultDenied } from './index.ts';

const deny = { decision: Decision.DENY, reason: 'holds a secret', policyRule: 'data/no-secrets', labels: [] };

function start(script: Script, options = {}): Promise<Client> {
  return startClient({ checkAction: judging, ...script }, options);
}

function judged({ gateway }: Client) {
  const sent = gateway.messages<CheckResultRequest>('checkResult');
  return sent.map(({ resultJson, isError }) => [Buffer.from(resultJson).toString(), isError]);
}

function completed({ gateway }: Client) {
  const sent = gateway.messages<CompleteActionRequest>('completeAction');
  return sent.map(({ outcome, detail }) => [outcomeNames.nameOf(outcome), detail]);
}

function failing(error: unknown): () => never {
  return () => {
    throw error;
  };
}

test('a result that no rule could match is not judged', async () => {
  await using client = await startClient();
  expect(await client.agent.run({ tool: 'search' }, () => ({ at: new Date(0) }))).toEqual({ at: new Date(0) });
  expect(client.gateway.count('checkResult')).toBe(0);
});

test('an allowed result is what was judged, before it is reported', async () => {
  const order: string[] = [];
  await using client = await start({
    checkResult: () => {
      order.push('judged');
      return passing();
    },
    completeAction: () => {
      order.push('reported');
      return { op: undefined };
    },
  });
  const result = { rows: [{ name: 'anna', age: undefined }] };
  expect(await client.agent.run({ tool: 'search' }, () => result)).toStrictEqual(result);
  expect(judged(client)).toEqual([['{"rows":[{"name":"anna"}]}', false]]);
  expect(order).toEqual(['judged', 'reported']);
});

describe('of an allowed result nothing is given that nobody has judged', () => {
  const secret = 'a@b.de';
  test.each<[string, () => object]>([
    ['members of a list', () => 'name: anna'.match(/(?<name>an)na/) ?? {}],
    ['members that cannot be listed', () => Object.defineProperty({ n: 1 }, 'mail', { value: secret })],
    ['members named by symbols', () => ({ n: 1, [Symbol.for('mail')]: secret })],
    [
      'what a member says the second time',
      () => {
        let times = 0;
        return {
          get n() {
            return times++ === 0 ? 1 : secret;
          },
        };
      },
    ],
  ])('%s', async (_, make) => {
    await using client = await start({});
    const given = await client.agent.run({ tool: 'search' }, make);
    const sent = String(judged(client)[0]?.[0]);
    expect(given).toStrictEqual(JSON.parse(sent));
    expect(Reflect.ownKeys(given)).toEqual(Reflect.ownKeys(JSON.parse(sent) as object));
    expect(JSON.stringify(given)).toBe(sent);
  });

  test('what is added while it is judged', async () => {
    const rows = ['anna'];
    await using client = await start({
      checkResult: () => {
        rows.push(secret);
        return passing();
      },
    });
    expect(await client.agent.run({ tool: 'search' }, () => rows)).toEqual(['anna']);
  });

  test('a member of any name', async () => {
    await using client = await start({});
    const given = await client.agent.run({ tool: 'search' }, () => JSON.parse('{"__proto__":{"a":1}}') as object);
    expect(Object.getPrototypeOf(given)).toBe(Object.prototype);
    expect(JSON.stringify(given)).toBe('{"__proto__":{"a":1}}');
  });
});

test('a masked result takes the place of what the work gave back', async () => {
  await using client = await start({ checkResult: () => masking('{"mail":"[email]","n":1}') });
  expect(await client.agent.run({ tool: 'search' }, () => ({ mail: 'a@b.de', n: 1 }))).toEqual({
    mail: '[email]',
    n: 1,
  });
  expect(await client.agent.guard('search', () => ({ mail: 'a@b.de' }))()).toEqual({ mail: '[email]', n: 1 });
});

describe('a text', () => {
  test.each([
    ['prose', 'found 12', 'found 12'],
    ['a JSON document, which is judged as one', ' {"a": 1} ', ' {"a": 1} '],
    ['a list', '[1]', '[1]'],
    ['a number, which is a text to whoever reads it', '4111111111111111', '"4111111111111111"'],
    ['a number with white space', ' -1.5e3\n', '" -1.5e3\\n"'],
    ['a date', '2026-01-02', '2026-01-02'],
    ['a word of JSON', 'null', '"null"'],
    ['one in quotes', '"a"', '"\\"a\\""'],
    ['an empty one', '', '""'],
  ])('is sent so that policies see what readers see: %s', async (_, text, sent) => {
    await using client = await start({ checkResult: ({ resultJson }) => masking(Buffer.from(resultJson).toString()) });
    expect(await client.agent.run({ tool: 'search' }, () => text)).toBe(text);
    expect(judged(client)).toEqual([[sent, false]]);
  });
});

test('nothing is judged as null, so that the gateway knows that there was nothing', async () => {
  await using client = await start({});
  expect(await client.agent.run({ tool: 'search' }, () => undefined)).toBeUndefined();
  expect(judged(client)).toEqual([['null', false]]);
});

test('a denied result reaches nobody, and the operation has happened all the same', async () => {
  await using client = await start({ checkResult: () => deny });
  const error = await client.agent
    .run(
      { tool: 'search' },
      ({ note }) => {
        note('one page');
        return 'sk-secret';
      },
      { traceId: 't', spanId: 's' },
    )
    .catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ResultDenied);
  expect(error).toMatchObject({
    code: 'result_denied',
    message: 'Denied by policy: holds a secret',
    reason: 'holds a secret',
    policyRule: 'data/no-secrets',
    opId: 't:s',
    source: 'gateway',
  });
  expect(completed(client)).toEqual([['succeeded', 'one page; the result was denied: holds a secret']]);
});

describe('what cannot be judged is denied', () => {
  class Row {
    secret = 'x';
  }
  const cycle: Record<string, unknown> = {};
  cycle['self'] = cycle;
  test.each([
    ['a Row', new Row()],
    ['a Date', [new Date(0)]],
    ['a Buffer', { file: Buffer.from('x') }],
    ['a Map', new Map([['a', 1]])],
    ['a Promise', { later: Promise.resolve(1) }],
    ['a ReadableStream', new ReadableStream()],
    ['a function', { go: () => 1 }],
    ['a bigint', 1n],
    ['NaN', { n: Number.NaN }],
    ['what cannot be written as JSON', cycle],
  ])('%s', async (what, result) => {
    await using client = await start({});
    const denied = await client.agent.run<unknown>({ tool: 'search' }, () => result).catch((error: unknown) => error);
    expect(denied).toBeInstanceOf(ResultDenied);
    expect((denied as ResultDenied).reason).toMatch(`the result cannot be judged: it holds ${what}; give back a text`);
    expect(client.gateway.count('checkResult')).toBe(0);
    expect(completed(client)).toMatchObject([
      ['succeeded', expect.stringMatching('^the result was denied: ') as string],
    ]);
  });

  test('one of more than 16 MiB', async () => {
    await using client = await start({});
    const run = client.agent.run({ tool: 'search' }, () => 'x'.repeat(16 * 1024 * 1024 + 1));
    await expect(run).rejects.toThrow('the result has 16777217 bytes; at most 16777216 can be judged');
    expect(client.gateway.count('checkResult')).toBe(0);
  });
});

test('16 MiB are sent, and come back masked', async () => {
  const most = 'x'.repeat(16 * 1024 * 1024);
  await using client = await start({
    checkResult: ({ resultJson }) => masking(`y${Buffer.from(resultJson).toString()}`),
  });
  expect((await client.agent.run({ tool: 'search' }, () => most)).length).toBe(most.length + 1);
});

describe('without a judgement there is no result', () => {
  test.each([
    ['the gateway is gone', () => 'cut' as const],
    ['the gateway is silent', () => 'silence' as const],
    ['the gateway is shutting down', () => unavailable()],
    ['the gateway does not know the method', () => ({ code: status.UNIMPLEMENTED, details: 'unknown' })],
    ['the operation is not known', () => ({ code: status.NOT_FOUND, details: 'no such operation' })],
    ['the operation is not running', () => ({ code: status.FAILED_PRECONDITION, details: 'over' })],
    ['the token is not accepted', () => ({ code: status.UNAUTHENTICATED, details: 'unknown token' })],
    ['the answer says neither', () => ({ ...passing(), decision: Decision.DECISION_UNSPECIFIED })],
    ['the answer says that somebody must wait', () => ({ ...passing(), decision: Decision.PENDING })],
    ['the masked result is no JSON', () => masking('{')],
  ])('%s', async (_, checkResult) => {
    await using client = await start({ checkResult }, { deadlineMs: 1500 });
    const run = client.agent.run({ tool: 'search' }, () => ({ mail: 'a@b.de' }));
    await expect(run).rejects.toBeInstanceOf(ResultDenied);
    await eventually(() => expect(completed(client)).toMatchObject([['succeeded', expect.anything() as string]]));
  });
});

describe('an error of the work', () => {
  const fault = new TypeError('no mail for a@b.de');

  test('is thrown as it is if its message is allowed', async () => {
    await using client = await start({});
    await expect(client.agent.run({ tool: 'search' }, failing(fault))).rejects.toBe(fault);
    expect(judged(client)).toEqual([['no mail for a@b.de', true]]);
    expect(completed(client)).toEqual([['failed', '']]);
  });

  test.each<[string, Error]>([
    ['a cause', new Error('failed', { cause: 'a@b.de' })],
    ['errors', new AggregateError([new Error('a@b.de')], 'failed')],
    ['an answer', Object.assign(new Error('failed'), { response: { data: 'a@b.de' } })],
    ['a name', Object.assign(new Error('failed'), { name: 'a@b.de' })],
    ['a number', Object.assign(new Error('failed'), { card: 4_111_111_111_111_111 })],
    ['a member that cannot be listed', Object.defineProperty(new Error('failed'), 'mail', { value: 'a@b.de' })],
    ['a stack', Object.assign(new Error('failed'), { stack: 'Error: failed\n    at x\nCaused by: a@b.de' })],
  ])('is another one with its message alone, if it has %s besides', async (_, thrown) => {
    await using client = await start({});
    const error = await client.agent.run({ tool: 'search' }, failing(thrown)).catch((each: unknown) => each);
    expect(error).toBeInstanceOf(MaskedError);
    expect((error as Error).message).toBe('failed');
    expect((error as Error).cause).toBeUndefined();
    expect(inspect(error, { showHidden: true, depth: 9 })).not.toMatch(/a@b\.de|4_?111/);
  });

  test('is thrown as it is if its members say nothing but what its message says', async () => {
    await using client = await start({});
    const missing = await readFile('/no/such/file').catch((each: unknown) => each);
    await expect(client.agent.run({ tool: 'search' }, failing(missing))).rejects.toBe(missing);
    const aborted = AbortSignal.abort().reason as Error;
    await expect(client.agent.run({ tool: 'search' }, failing(aborted))).rejects.toBe(aborted);
  });

  test('is another one if its message is masked, without a trace of the first', async () => {
    await using client = await start({ checkResult: () => masking('no mail for [email]') });
    const error = await client.agent.run({ tool: 'search' }, failing(fault)).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(MaskedError);
    expect((error as Error).message).toBe('no mail for [email]');
    expect((error as Error).cause).toBeUndefined();
    expect((error as Error).stack).not.toContain('a@b.de');
    expect(completed(client)).toEqual([['failed', '']]);
  });

  test('is a denial if its message is denied', async () => {
    await using client = await start({ checkResult: () => deny });
    const error = await client.agent.run({ tool: 'search' }, failing(fault)).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ResultDenied);
    expect((error as Error).cause).toBeUndefined();
    expect(completed(client)).toEqual([['failed', 'the result was denied: holds a secret']]);
  });

  test('may be any value', async () => {
    await using client = await start({ checkResult: () => masking('{"for":"[email]"}') });
    await expect(client.agent.run({ tool: 'search' }, failing({ for: 'a@b.de' }))).rejects.toEqual({ for: '[email]' });
  });
});

describe('an operator', () => {
  test('who terminates before the judgement keeps the result from everybody', async () => {
    await using client = await start({});
    const ids = { traceId: 't', spanId: 's' };
    const run = client.agent.run(
      { tool: 'search' },
      async ({ signal }) => {
        client.gateway.control('t:s', 'TERMINATE', { reason: 'enough' });
        await eventually(() => expect(signal.aborted).toBe(true));
        return 'sk-secret';
      },
      ids,
    );
    const error = await run.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(OperationTerminatedError);
    expect((error as OperationTerminatedError).result).toBeUndefined();
    expect(client.gateway.count('checkResult')).toBe(0);
  });

  test('who terminates during the judgement keeps the result from the caller', async () => {
    await using client = await start(
      {
        checkResult: () => {
          client.gateway.control('t:s', 'TERMINATE', { reason: 'enough' });
          return 'silence';
        },
      },
      { deadlineMs: 1500 },
    );
    const run = client.agent.run({ tool: 'search' }, () => 'found', { traceId: 't', spanId: 's' });
    await expect(run).rejects.toBeInstanceOf(OperationTerminatedError);
  });

  test('who pauses before the judgement delays it, also if the pause is heard of later', async () => {
    await using client = await start({
      checkResult: (_, nth) => {
        if (nth > 1) return passing();
        client.gateway.control('t:s', 'PAUSE');
        return { code: status.FAILED_PRECONDITION, details: 'the operation is paused' };
      },
    });
    let isGiven = false;
    const run = client.agent
      .run({ tool: 'search' }, () => 'found', { traceId: 't', spanId: 's' })
      .finally(() => {
        isGiven = true;
      });
    await eventually(() => expect(client.agent.operation('t:s')?.state).toBe('paused'));
    expect(isGiven).toBe(false);
    client.gateway.control('t:s', 'RESUME');
    expect(await run).toBe('found');
  });
});

test('a held action is judged by what its answer said', async () => {
  await using client = await start({
    checkAction: (request) => answering(Decision.PENDING, request, { opState: 'pending', judgeResult: true }),
    checkResult: () => deny,
  });
  const run = client.agent.run({ tool: 'search' }, () => 'found', {
    traceId: 't',
    spanId: 's',
    onHeld: () => client.gateway.control('t:s', 'ALLOW'),
  });
  await expect(run).rejects.toBeInstanceOf(ResultDenied);
});

describe('results by hand', () => {
  test('an operation that was checked has its results judged until it is completed', async () => {
    await using client = await start({ checkResult: (_, nth) => (nth === 1 ? masking('found [email]') : deny) });
    const { opId, judgeResult } = await client.agent.check({ tool: 'search' });
    expect(judgeResult).toBe(true);
    const operation = client.agent.operation(opId);
    expect(await operation?.checkResult('found a@b.de')).toBe('found [email]');
    await expect(operation?.checkResult('no mail', { isError: true })).rejects.toBeInstanceOf(ResultDenied);
    expect(judged(client)).toEqual([
      ['found a@b.de', false],
      ['no mail', true],
    ]);
  });

  test('work that has its parts judged itself gives back nothing more', async () => {
    await using client = await start({});
    await client.agent.run({ tool: 'search' }, async ({ checkResult }) => void (await checkResult('a part')));
    expect(judged(client)).toEqual([['a part', false]]);
  });
});

describe('a piece of an answer that is still coming', () => {
  const piece = { place: 'text', text: 'Hello there, ada' } as const;

  function pieceJudged(client: Client) {
    return client.agent.run({ tool: 'search' }, (operation) => operation.checkStreamed(piece));
  }

  test('is read as far as the gateway says', async () => {
    const part = JudgedPart.STREAMED;
    await using client = await startClient({ checkResult: () => ({ ...passing(), part, taken: 13 }) });
    expect(await pieceJudged(client)).toEqual({ read: 'Hello there, ', rest: 'ada' });
  });

  test.each<[string, NonNullable<Script['checkResult']>]>([
    ['an older gateway knows no pieces', () => ({ code: status.INVALID_ARGUMENT, details: 'part is not known' })],
    ['an older gateway judged it as a result', () => passing()],
    ['the gateway is away', () => unavailable()],
    ['the gateway has no room', () => ({ code: status.RESOURCE_EXHAUSTED, details: 'later' })],
    ['rules need the whole', () => ({ ...passing(), part: JudgedPart.STREAMED })],
  ])('waits for the whole where %s', async (_, checkResult) => {
    await using client = await startClient({ checkResult }, { deadlineMs: 1500 });
    expect(await pieceJudged(client)).toBeUndefined();
  });

  test('is denied where a rule says so', async () => {
    await using client = await startClient({ checkResult: () => ({ ...deny, part: JudgedPart.STREAMED }) });
    await expect(pieceJudged(client)).rejects.toMatchObject({ code: 'result_denied', source: 'gateway' });
  });
});
