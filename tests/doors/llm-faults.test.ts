import { randomBytes } from 'node:crypto';
import { InternalServerError as OpenAIInternalServerError } from 'openai';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { eventually } from '../harness/eventually.ts';
import { TestHome } from '../harness/cli.ts';
import { chatChunk, chatDelta } from '../harness/model-answers.ts';
import { providerKey } from '../harness/model-proxy.ts';
import { beginStream, sendEvent, sendJson } from '../harness/send-answer.ts';
import { LlmWorld } from './llm-world.ts';

let world: LlmWorld;
beforeAll(async () => {
  world = await LlmWorld.start({ proxyArgs: ['--upstream-timeout', '1'] });
});
afterAll(() => world[Symbol.asyncDispose]());
afterEach(() => {
  world.upstream.script = () => false;
});

const model = 'gpt-5';
const messages = [{ role: 'user' as const, content: 'hello' }];
const failure = () =>
  world
    .openai()
    .chat.completions.create({ model, messages })
    .catch((error: unknown) => error);

test('an upstream that crashes before it answers is a 502', async () => {
  world.upstream.script = (_, response) => {
    response.destroy();
    return true;
  };
  const error = await failure();
  expect(error).toBeInstanceOf(OpenAIInternalServerError);
  expect(error).toMatchObject({ status: 502, code: 'upstream_unavailable' });
  await world.spent();
});

test('an upstream that hangs is a 504', async () => {
  world.upstream.script = () => true;
  expect(await failure()).toMatchObject({ status: 504, code: 'upstream_timeout' });
  await world.spent();
});

test('an upstream that does not speak HTTP is a 502', async () => {
  world.upstream.script = (_, response) => {
    response.socket?.end('SSH-2.0-OpenSSH_9.9\r\n');
    return true;
  };
  expect(await failure()).toMatchObject({ status: 502 });
});

test('an upstream that changes the protocol is a 502', async () => {
  world.upstream.script = (_, response) => {
    response.socket?.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n');
    return true;
  };
  expect(await failure()).toMatchObject({ status: 502, code: 'upstream_unavailable' });
  await world.spent();
});

test('an upstream reads the body as it was judged, and at the place that was judged', async () => {
  const body = JSON.stringify({ model, messages, x: '&model=gpt-4' });
  const headers = { 'content-type': 'application/x-www-form-urlencoded', 'x-original-url': '/v1/files' };
  expect((await world.post('/v1/chat/completions', body, headers)).status).toBe(200);
  expect(world.upstream.last.headers).toMatchObject({ 'content-type': 'application/json' });
  expect(world.upstream.last.headers).not.toHaveProperty('x-original-url');
});

test.each(['a crash', 'a hang'])('%s in the middle of a stream breaks it off for the client too', async (what) => {
  const before = await world.spent();
  world.upstream.script = (_, response) => {
    beginStream(response);
    sendEvent(response, chatChunk([chatDelta({ content: 'One' })]));
    response.write('data: {"half');
    if (what === 'a crash') setTimeout(() => response.destroy(), 50);
    return true;
  };
  const got: unknown[] = [];
  const reading = (async () => {
    const stream = await world.openai().chat.completions.create({ model, messages, stream: true, max_tokens: 40 });
    for await (const chunk of stream) got.push(chunk.choices[0]?.delta.content);
  })();
  await expect(reading).rejects.toThrow();
  expect(got).toEqual(['One']);
  // Nobody said what was used, so the estimate counts.
  expect(await world.spent()).toBeGreaterThan(before + 400);
});

test('garbage in place of an answer, or of events, passes as it is', async () => {
  const garbage = randomBytes(100_000);
  for (const type of ['application/json', 'text/event-stream']) {
    world.upstream.script = (_, response) => {
      response.writeHead(200, { 'content-type': type }).end(garbage);
      return true;
    };
    const answer = await world.post('/v1/chat/completions', JSON.stringify({ model, messages, stream: true }));
    expect(Buffer.from(await answer.arrayBuffer()).equals(garbage)).toBe(true);
  }
  await world.spent();
});

test('a hundred megabytes pass through, and do not stay', async () => {
  const part = Buffer.alloc(1024 * 1024, 'x');
  for (const [type, megabytes] of [
    ['application/json', 100],
    ['text/event-stream', 20],
  ] as const) {
    world.upstream.script = (_, response) => {
      response.writeHead(200, { 'content-type': type });
      let left = megabytes;
      const more = () => {
        while (left-- > 0) if (!response.write(part)) return response.once('drain', more);
        return response.end();
      };
      more();
      return true;
    };
    const answer = await world.post('/v1/chat/completions', JSON.stringify({ model, messages }));
    let bytes = 0;
    for await (const chunk of answer.body ?? []) bytes += (chunk as Uint8Array).length;
    expect(bytes).toBe(megabytes * part.length);
  }
  await world.spent();
});

test('a redirect is followed by nobody, and its place is not told', async () => {
  world.upstream.script = (_, response) => {
    response.writeHead(307, { location: `${world.upstream.url}/elsewhere` }).end();
    return true;
  };
  const headers = { authorization: `Bearer ${world.agent.token}` };
  const body = JSON.stringify({ model, messages });
  const url = `${world.proxy.url}/v1/chat/completions`;
  const answer = await fetch(url, { method: 'POST', body, headers, redirect: 'manual' });
  expect([answer.status, answer.headers.get('location')]).toEqual([307, null]);
  expect(world.upstream.last.url).toBe('/v1/chat/completions');
});

test('an upstream that repeats its key gives it to nobody, and no output has a secret', async () => {
  world.upstream.script = ({ headers, json }, response) => {
    if (json['stream'] === true) {
      beginStream(response);
      sendEvent(response, chatChunk([chatDelta({ content: headers.authorization })]));
      response.end();
    } else {
      response.setHeader('x-echo', headers.authorization ?? '');
      sendJson(response, { error: { message: `Incorrect API key provided: ${headers.authorization}` } }, 401);
    }
    return true;
  };
  const whole = await world.post('/v1/chat/completions', JSON.stringify({ model, messages }));
  const streamed = await world.post('/v1/chat/completions', JSON.stringify({ model, messages, stream: true }));
  const told = JSON.stringify([...whole.headers, ...streamed.headers]) + (await whole.text()) + (await streamed.text());
  expect(told).toContain('*****');
  const audit = JSON.stringify(world.gateway.audit());
  const { stdout, stderr } = world.gateway.output();
  for (const text of [told, audit, stdout, stderr, world.proxy.output]) {
    expect(text).not.toContain(providerKey);
    expect(text).not.toContain(world.agent.token);
  }
});

test('a wrong file is one line and exit 2', async () => {
  using home = new TestHome();
  home.write(
    'models.yaml',
    'upstreams: [{name: a, kind: openai, base_url: "http://x", api_key_env: UNSET_KEY, models: ["*"]}]',
  );
  const { code, stderr } = await home.run(['llm', 'serve', '--config', `${home.path}/.reeve/models.yaml`]);
  expect(code).toBe(2);
  expect(stderr).toMatch(/^error: .*models\.yaml: upstreams\[0\]\.api_key_env: .*UNSET_KEY is not set\n$/);
  expect((await home.run(['llm', 'serve', '--config', '/nowhere'])).code).toBe(2);
});

test('SIGTERM lets a stream end, takes no new call, and exits 0', async () => {
  let finish = () => {};
  world.upstream.script = (_, response) => {
    beginStream(response);
    sendEvent(response, chatChunk([chatDelta({ content: 'One' })]));
    finish = () => {
      sendEvent(response, '[DONE]');
      response.end();
    };
    return true;
  };
  const stream = await world.openai().chat.completions.create({ model, messages, stream: true });
  const stopping = world.proxy.stop();
  await eventually(async () => {
    await expect(fetch(`${world.proxy.url}/healthz`)).rejects.toThrow();
  });
  finish();
  const got = [];
  for await (const chunk of stream) got.push(chunk.choices[0]?.delta.content);
  expect(got).toEqual(['One']);
  expect(await stopping).toBe(0);
  await world.spent();
});
