import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { StoredEntry } from '../audit/audit-reader.ts';
import { NotRecorded } from '../policy/condition.ts';
import { unregisteredAgent } from '../tenancy/agent.ts';
import { agentId, useTool } from '../testkit/requests.ts';
import { testGovernance } from '../testkit/test-governance.ts';
import type { Action } from '../action/action.ts';
import { action, actionTypes } from '../action/action.ts';
import type { RawCheckRequest } from '../action/check-request.ts';
import type { RecordedDecision } from './recorded-decision.ts';
import { recordedDecision } from './recorded-decision.ts';
import { RecordedFacts } from './recorded-facts.ts';

const bot = agentId('acme/search/bot');

/** What the log records of checks, under a policy that allows everything but `rm`. */
async function record(...checks: Partial<RawCheckRequest>[]): Promise<(RecordedDecision | undefined)[]> {
  const test = await testGovernance();
  await test.policies('name: p\ndefault: allow\nrules: [{name: no, effect: deny, tools: [rm]}]');
  const agent = await test.register(bot);
  const before = (await test.audit()).length;
  for (const check of checks) await test.check(agent, check);
  const entries: StoredEntry[] = await test.store.after(before, Number.MAX_SAFE_INTEGER);
  return entries.map(recordedDecision);
}

async function recorded(check: Partial<RawCheckRequest>): Promise<RecordedDecision> {
  const [found] = await record(check);
  if (found === undefined) throw new Error('it is not on record');
  return found;
}

describe('a decision on record', () => {
  test('holds what was asked and what was answered', async () => {
    const found = await recorded({
      action: useTool('rm', { n: 1 }),
      estimatedCostMicros: 7,
      runId: 'run',
      traceId: 't',
      spanId: 's',
    });
    expect(found).toMatchObject({
      opId: 't:s',
      agent: bot,
      depth: 0,
      decision: 'deny',
      policyRule: 'p/no',
      resource: 'rm',
      args: { n: 1 },
      costMicros: 7,
      estimated: true,
      runId: 'run',
      redacted: false,
      argsOmitted: false,
      granted: false,
    });
    expect(await recorded({})).toMatchObject({ decision: 'allow', policyRule: 'default', estimated: false });
  });

  test('holds the annotations of its tool', async () => {
    const annotations = '{"readOnlyHint":true}';
    const found = await recorded({ action: action('tool_call', { tool: 'x', annotations }) });
    expect(found).toMatchObject({ annotations: { readOnlyHint: true }, annotationsOmitted: false });
    expect(new RecordedFacts(found, undefined, 0).annotations()).toEqual({ readOnlyHint: true });
    expect(new RecordedFacts(await recorded({}), undefined, 0).annotations()).toEqual({});
  });

  const word = fc.stringMatching(/^[a-z]{1,8}$/);
  const someAction: fc.Arbitrary<Action> = fc
    .record({
      type: fc.constantFrom(...actionTypes),
      tool: word,
      source: word,
      model: word,
      promptTokens: fc.nat(1000),
      maxOutputTokens: fc.nat(1000),
      operation: word,
      path: word,
      host: word,
      port: fc.nat(65_535),
      protocol: word,
      command: word,
      commandArgs: fc.array(word, { maxLength: 3 }),
      url: fc.option(
        word.map((host) => `https://${host}.example/`),
        { nil: '' },
      ),
    })
    .map(({ type, ...members }) => action(type, members));

  test('is the same action, whatever it was', async () => {
    await fc.assert(
      fc.asyncProperty(
        someAction,
        fc.option(fc.jsonValue({ maxDepth: 3 }), { nil: undefined }),
        async (asked, args) => {
          const json = args === undefined ? '' : JSON.stringify(args);
          const found = await recorded({ action: { ...asked, json } });
          expect(found.action).toEqual(asked);
          if (!found.redacted) expect(found.args).toEqual(json === '' ? undefined : JSON.parse(json));
        },
      ),
      { numRuns: 100 },
    );
  });

  test('says where secrets were replaced', async () => {
    const found = await recorded({ action: useTool('login', { password: 'hunter2' }) });
    expect(found).toMatchObject({ redacted: true, args: { password: '[redacted]' } });
  });

  test('says where arguments were too long', async () => {
    const found = await recorded({ action: useTool('write', { text: 'x'.repeat(70_000) }) });
    expect(found).toMatchObject({ argsOmitted: true, args: undefined });
    const alike = await recorded({ action: useTool('write', { omitted_characters: 5, sha256: 'x' }) });
    expect(alike).toMatchObject({ argsOmitted: false, args: { omitted_characters: 5, sha256: 'x' } });
    const earlier = { omitted_characters: 70_000, sha256: '0'.repeat(64) };
    expect(await recorded({ action: useTool('write', earlier) })).toMatchObject({ argsOmitted: true, args: undefined });
  });

  test('cannot be hidden by its own arguments', async () => {
    const found = await recorded({ action: useTool('write', { decision: null, event_type: 'x', replay: true }) });
    expect(found.decision).toBe('allow');
  });

  test('is not a replay, nor anything else', async () => {
    const check = { traceId: 't', spanId: 's' };
    const found = await record(check, check, { ...check, action: useTool('rm') });
    expect(found.map((one) => one?.decision)).toEqual(['allow', undefined, undefined]);
    const test = await testGovernance();
    const agent = await test.register(bot);
    await test.check({ ...agent, token: 'wrong'.repeat(10) });
    expect((await test.store.after(0, 100)).map(recordedDecision)).toEqual([undefined, undefined]);
  });
});

describe('facts of a decision on record', () => {
  test('are those of its time', async () => {
    const found = await recorded({ action: useTool('x', { n: 1 }), runId: 'run' });
    const facts = new RecordedFacts(found, unregisteredAgent(bot), 250_000);
    expect([facts.now, facts.costUsd, facts.args(), facts.run().id]).toEqual([found.at, 0.25, { n: 1 }, 'run']);
    expect(facts.lacking).toBe(false);
  });

  test.each<[string, (facts: RecordedFacts) => unknown, string]>([
    ['spend', (facts) => facts.spend(), 'spend is not recorded'],
    ['the run', (facts) => facts.run().checks, 'what had happened in the run is not recorded'],
    ['the spend of the run', (facts) => facts.run().spent_usd, 'what had happened in the run is not recorded'],
    ['a name', (facts) => facts.agent.name, 'the agent is not registered any more'],
    ['a framework', (facts) => facts.agent.framework, 'the agent is not registered any more'],
    ['metadata', (facts) => facts.agent.metadata, 'the agent is not registered any more'],
  ])('do not make up %s', async (_, ask, message) => {
    const facts = new RecordedFacts(await recorded({}), undefined, 0);
    expect(() => ask(facts)).toThrow(new NotRecorded(message));
    expect(facts.lacking).toBe(true);
  });

  test('are what conditions were told, but not what everybody has spent', async () => {
    const spend = {
      org: { day_usd: 1, month_usd: 2 },
      team: { day_usd: 3, month_usd: 4 },
      agent: { day_usd: 5, month_usd: 6 },
    };
    const found = { ...(await recorded({ runId: 'r' })), spend, run: { checks: 3, spent_usd: 0.5, labels: ['mail'] } };
    const facts = new RecordedFacts(found, undefined, 0);
    expect(facts.run()).toEqual({ id: 'r', checks: 3, spent_usd: 0.5, labels: ['mail'] });
    expect(facts.spend().team).toEqual(spend.team);
    expect(() => facts.spend().global).toThrow('what everybody together had spent is not recorded');
  });
});
