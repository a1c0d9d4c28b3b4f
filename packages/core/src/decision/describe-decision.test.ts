import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Json } from '../audit/canonical-json.ts';
import { canonicalJson } from '../audit/canonical-json.ts';
import { loadPolicies } from '../policy/load-policies.ts';
import { agentId } from '../testkit/requests.ts';
import { someSecret } from '../testkit/secrets.ts';
import { sha256, testGovernance } from '../testkit/test-governance.ts';
import type { Action } from '../action/action.ts';
import { action, actionTypes } from '../action/action.ts';
import { doors } from '../action/via.ts';
import type { RawCheckRequest } from '../action/check-request.ts';

type Place = (secret: string) => Partial<RawCheckRequest>;

function inAction(type: Action['type'], members: (secret: string) => Partial<Omit<Action, 'type'>>): Place {
  return (secret) => ({ action: action(type, members(secret)) });
}

/** Everywhere an agent can put a text. */
const places: Readonly<Record<string, Place>> = {
  arguments: inAction('tool_call', (secret) => ({ tool: 't', json: JSON.stringify({ a: [{ b: `x ${secret}` }] }) })),
  'a member name': inAction('tool_call', (secret) => ({ tool: 't', json: JSON.stringify({ [secret]: 1 }) })),
  'arguments that are one text': inAction('tool_call', (secret) => ({ tool: 't', json: JSON.stringify(secret) })),
  'JSON in the arguments': inAction('tool_call', (secret) => ({
    tool: 't',
    json: JSON.stringify({ body: JSON.stringify({ password: secret }) }),
  })),
  'a result': inAction('tool_result', (secret) => ({ tool: 't', json: JSON.stringify([secret]) })),
  'very long arguments': inAction('tool_call', (secret) => ({
    tool: 't',
    json: JSON.stringify(secret + 'x'.repeat(70_000)),
  })),
  'a tool': inAction('tool_call', (secret) => ({ tool: secret })),
  'a source': inAction('tool_call', (secret) => ({ tool: 't', source: secret })),
  annotations: inAction('tool_call', (secret) => ({ tool: 't', annotations: JSON.stringify({ title: [secret] }) })),
  'the name of a door': (secret) => ({ via: { door: 'mcp', name: secret.slice(0, 512) } }),
  'a URL': inAction('tool_call', (secret) => ({ tool: 't', url: `https://example.com/?k=${secret}` })),
  'a model': inAction('llm_call', (secret) => ({ model: secret })),
  'a path': inAction('file_operation', (secret) => ({ operation: 'read', path: `/data/${secret}` })),
  'an operation': inAction('file_operation', (secret) => ({ operation: secret, path: '/data' })),
  'a host': inAction('network_call', (secret) => ({ host: secret, protocol: 'tcp' })),
  'a protocol': inAction('network_call', (secret) => ({ host: 'h', protocol: secret })),
  'a command': inAction('process_exec', (secret) => ({ command: `run ${secret}` })),
  'an argument of a command': inAction('process_exec', (secret) => ({ command: 'run', commandArgs: ['-v', secret] })),
  'the argument after --password': inAction('process_exec', (secret) => ({
    command: 'run',
    commandArgs: ['--password', secret, '-v'],
  })),
  'a summary': (secret) => ({ summary: `with ${secret}` }),
  'a run id': (secret) => ({ runId: secret.slice(0, 128) }),
};

/** JSON escapes the line breaks of a private key. */
function asWritten(secret: string): string[] {
  return secret.split('\n').filter((line) => line.length > 16 && !line.startsWith('-----'));
}

describe.each(Object.entries(places))('a secret in %s', (_, place) => {
  test('is neither on record nor in the operation nor in events', async () => {
    const test = await testGovernance();
    await test.policies('default: deny');
    const bot = await test.register(agentId('acme/search/bot'));
    await fc.assert(
      fc.asyncProperty(someSecret, async (secret) => {
        const answer = await test.check(bot, place(secret));
        const entry = (await test.audit()).at(-1);
        const everything = JSON.stringify([entry, answer, test.events.slice(-3)]);
        for (const part of asWritten(secret)) expect(everything).not.toContain(part.slice(0, 100));
      }),
      { numRuns: 25 },
    );
  });
});

test("a secret in an agent's name is not on record either", async () => {
  await fc.assert(
    fc.asyncProperty(someSecret, async (secret) => {
      const test = await testGovernance();
      const bot = await test.register(agentId('acme/search/bot'), {
        name: secret.slice(0, 256),
        framework: secret.slice(0, 128),
      });
      await test.check(bot);
      await test.deregister(bot, `leaving ${secret}`);
      const log = JSON.stringify(await test.audit());
      for (const part of asWritten(secret)) expect(log).not.toContain(part.slice(0, 100));
    }),
    { numRuns: 30 },
  );
});

const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.constantFrom('', '\ud800', 'a\udc00b', '"\\\u0000'),
);
const someAction: fc.Arbitrary<Action> = fc.record({
  type: fc.constantFrom(...actionTypes),
  tool: anyText,
  source: anyText,
  model: anyText,
  promptTokens: fc.nat(),
  maxOutputTokens: fc.nat(),
  operation: anyText,
  path: anyText,
  host: anyText,
  port: fc.nat({ max: 65_535 }),
  protocol: anyText,
  namedOnly: fc.constant(false),
  command: anyText,
  commandArgs: fc.array(anyText, { maxLength: 3 }),
  workingDir: anyText,
  url: anyText,
  json: fc.oneof(fc.constant(''), fc.json({ maxDepth: 3 })),
  annotations: fc.oneof(
    fc.constant(''),
    fc.dictionary(anyText, fc.jsonValue({ maxDepth: 2 })).map((all) => JSON.stringify(all)),
  ),
});

const someVia = fc.option(
  fc.record({ door: fc.constantFrom(...doors), name: fc.constantFrom('', 'github', '"\\\u0000') }),
);

test('whatever an agent sends, the entry is canonical JSON that says it', async () => {
  const test = await testGovernance();
  await test.policies('default: allow');
  const bot = await test.register(agentId('acme/search/bot'));
  await fc.assert(
    fc.asyncProperty(someAction, anyText, anyText, someVia, async (asked, summary, runId, via) => {
      await test.check(bot, { action: asked, summary, runId, via });
      const { head } = await test.store.load();
      const [entry] = await test.store.after(head.seq - 1, 1);
      expect(entry?.canonical).toBe(canonicalJson(JSON.parse(entry?.canonical ?? '') as Json));
      expect(entry?.hash).toBe(sha256(entry?.canonical ?? ''));
      expect((await test.audit()).at(-1)).toMatchObject({
        payload: { action: { type: asked.type }, op_state: 'running', ...(via === null ? {} : { via }) },
      });
    }),
    { numRuns: 150 },
  );
});

test('arguments that are too long are recorded by their length and digest', async () => {
  const test = await testGovernance();
  await test.policies('default: allow');
  const bot = await test.register(agentId('acme/search/bot'));
  const recorded = async (json: string) => {
    await test.check(bot, { action: action('tool_call', { tool: 't', json }) });
    return (await test.audit()).at(-1)?.payload['action'];
  };
  for (const character of ['x', 'é', '€', '😀']) {
    const bytes = Buffer.byteLength(character);
    const most = `"${character.repeat(Math.floor((16_384 - 2) / bytes))}"`;
    const fitting = `${most}${' '.repeat(16_384 - Buffer.byteLength(most))}`;
    expect(await recorded(fitting)).toEqual({ args: JSON.parse(fitting), tool: 't', type: 'tool_call' });
    const long = `${fitting} `;
    expect(await recorded(long)).toEqual({
      args: { omitted_bytes: 16_385, sha256: sha256(long) },
      tool: 't',
      type: 'tool_call',
    });
  }
  const secrets = JSON.stringify(Array.from({ length: 1500 }, () => ({ otp: 1 })));
  expect(await recorded(secrets)).toMatchObject({ args: { omitted_bytes: secrets.length, sha256: sha256(secrets) } });
});

test('annotations and the door are recorded as they were given', async () => {
  const test = await testGovernance();
  await test.policies('default: allow');
  const bot = await test.register(agentId('acme/search/bot'));
  const asked = action('tool_call', { tool: 't', annotations: '{"title":"T","readOnlyHint":true}' });
  const { opId } = await test.check(bot, { action: asked, via: { door: 'mcp', name: 'github' } });
  expect((await test.audit()).at(-1)?.payload).toMatchObject({
    action: { annotations: { readOnlyHint: true, title: 'T' }, tool: 't', type: 'tool_call' },
    via: { door: 'mcp', name: 'github' },
  });
  expect(test.opsOf(bot.id).get(opId)?.via).toEqual({ door: 'mcp', name: 'github' });
});

test('what the action does not have is left out', async () => {
  const test = await testGovernance();
  await test.policies('default: allow');
  const bot = await test.register(agentId('acme/search/bot'));
  await test.check(bot, { action: action('network_call', { host: 'example.com', port: 443, protocol: 'https' }) });
  expect((await test.audit()).at(-1)?.payload).toEqual({
    action: { host: 'example.com', port: 443, protocol: 'https', type: 'network_call' },
    cost_micros: 0,
    digest: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
    op_state: 'running',
    resource: 'example.com',
  });
});

test('what conditions were told of run and spend is recorded, where they asked, but not what everybody has spent', async () => {
  const asking = { run: 'run', spend: 'spend', nothing: 'nothing' } as const;
  const test = await testGovernance({
    features: {
      compileCondition: (source) => (facts) => {
        if (source === asking.run) return facts.run().checks > 99;
        return source === asking.spend && facts.spend().global.day_usd > 99;
      },
    },
  });
  const text = (when: string) => `default: allow\nrules: [{effect: deny, tools: [${when}], when: ${when}}]`;
  const bot = await test.register(agentId('acme/search/bot'));
  const check = { estimatedCostMicros: 250_000, runId: 'r' };
  for (const when of Object.values(asking)) {
    const sources = [{ file: 'p.yaml', text: text(when) }];
    expect(await test.settle(loadPolicies(test.gov, sources))).toEqual([]);
    await test.check(bot, { ...check, action: action('tool_call', { tool: when }) });
  }
  const entries = (await test.store.after(0, 100)).filter(({ canonical }) => canonical.includes('"ActionAllowed"'));
  for (const { canonical } of entries) expect(canonical).toBe(canonicalJson(JSON.parse(canonical) as Json));
  const payloads = (await test.audit()).filter(({ decision }) => decision === 'allow').map(({ payload }) => payload);
  const quarter = { day_usd: 0.25, month_usd: 0.25 };
  expect(payloads[0]).toMatchObject({ estimated: true, run: { checks: 0, spent_usd: 0 } });
  expect(payloads[0]).not.toHaveProperty('spend');
  expect(payloads[1]?.['spend']).toEqual({ agent: quarter, org: quarter, team: quarter });
  expect(payloads[1]).not.toHaveProperty('run');
  expect(payloads[2]).not.toHaveProperty('run');
  expect(payloads[2]).not.toHaveProperty('spend');
});
