import { describe, expect, test } from 'vitest';
import type { Issuers, SubjectIssuer } from '../access/issuers.ts';
import type { MemoryStore } from '../memory/memory-store.ts';
import type { CompileCondition } from '../policy/condition.ts';
import { loadPolicies } from '../policy/load-policies.ts';
import { approve, person } from '../testkit/approvals.ts';
import { finish } from '../testkit/controls.ts';
import { plainIssuer } from '../testkit/plain-issuer.ts';
import { agentId, checkOf, useTool } from '../testkit/requests.ts';
import type { TestAgent, TestGovernance } from '../testkit/test-governance.ts';
import { testGovernance } from '../testkit/test-governance.ts';
import { twoGateways } from '../testkit/two-gateways.ts';
import { checkAction, checkActions } from './check-action.ts';
import { mostUnderWay } from './pace.ts';

const anotherRequest = 'operation id was used for another request';
const ann = JSON.stringify({ sub: 'u-1', email: 'Ann@Example.com', groups: ['staff'] });
const annLater = JSON.stringify({ sub: 'u-1', email: 'ann@example.com', iat: 9 });
const bob = JSON.stringify({ sub: 'u-2', email: 'bob@example.com' });

/** `staff` asks for a group. */
const compileCondition: CompileCondition = (source) => (facts) => {
  if (source === 'staff') return facts.user()?.groups.includes('staff') === true;
  return facts.user() !== null;
};
const features = { compileCondition };

interface World {
  readonly test: TestGovernance;
  readonly bot: TestAgent;
}

async function governed(policy = 'default: allow', subjects?: Issuers<SubjectIssuer>): Promise<World> {
  const test = await testGovernance({ features, subjects: subjects ?? plainIssuer().subjects });
  const sources = [{ file: 'p.yaml', text: policy }];
  expect(await test.settle(loadPolicies(test.gov, sources, features))).toEqual([]);
  return { test, bot: await test.register(agentId('acme/search/bot')) };
}

describe('a subject token', () => {
  test('is a DENY where no issuer is configured, with one entry about the agent, and never ignored', async () => {
    const { test, bot } = await governed('default: allow', { trusted: [] });
    const answer = await test.check(bot, { subjectToken: ann, traceId: 't', spanId: 's' });
    const reason = 'subject token: no issuer of users is configured';
    expect(answer).toMatchObject({ decision: 'deny', policyRule: 'identity', reason, opId: '' });
    const entries = await test.audit();
    expect(entries.at(-1)).toMatchObject({
      event_type: 'ActionDenied',
      decision: 'deny',
      reason,
      policy_rule: 'identity',
      lineage: { org_id: 'acme', team_id: 'search', agent_id: 'bot' },
      actor: { kind: 'agent' },
      trace_id: 't',
      span_id: 's',
    });
    expect(entries.filter(({ event_type: type }) => type === 'ActionDenied')).toHaveLength(1);
    expect(JSON.stringify(entries)).not.toContain('u-1');
    expect(test.opsOf(bot.id).size).toBe(0);
  });

  test('that is empty counts as absent', async () => {
    const { test, bot } = await governed('default: allow', { trusted: [] });
    expect(await test.check(bot, { subjectToken: '' })).toMatchObject({ decision: 'allow' });
    expect((await test.audit()).at(-1)?.payload).not.toHaveProperty('user');
  });

  test('that does not verify is a DENY before any policy, and nothing of it is logged', async () => {
    const { test, bot } = await governed('rules: [{ effect: deny }]');
    const answer = await test.check(bot, { subjectToken: 'a-secret-token' });
    expect(answer).toMatchObject({ decision: 'deny', policyRule: 'identity', reason: 'subject token: is not JSON' });
    expect(JSON.stringify(await test.audit())).not.toContain('a-secret-token');
  });

  test.each([
    [{ email: 'a@b.c' }, 'has no "sub"'],
    [{ sub: '' }, 'has no "sub"'],
    [{ sub: 7 }, 'has no "sub"'],
    [{ sub: 'a\nb' }, 'has a "sub" that is no name'],
    [{ sub: 'x'.repeat(513) }, 'has a "sub" that is no name'],
    [{ sub: 'u', email: '\u001b[2J' }, 'has an "email" that is no address'],
  ])('with the claims %j is refused', async (claims, why) => {
    const { test, bot } = await governed();
    const answer = await test.check(bot, { subjectToken: JSON.stringify(claims) });
    expect(answer).toMatchObject({ decision: 'deny', policyRule: 'identity', reason: `subject token: ${why}` });
  });

  test('of more than 16 KiB is no valid request', () => {
    const longest = 'x'.repeat(16 * 1024);
    expect(checkOf({ subjectToken: longest }).subjectToken).toBe(longest);
    expect(() => checkOf({ subjectToken: `${longest}x` })).toThrow('subject_token: must be at most 16384 bytes');
    expect(() => checkOf({ subjectToken: 'é'.repeat(8193) })).toThrow('subject_token: must be at most 16384 bytes');
  });

  test('of a stranger is not looked at', async () => {
    const { subjects, seen } = plainIssuer();
    const { test, bot } = await governed('default: allow', subjects);
    const answer = await test.check({ ...bot, token: 'made-up' }, { subjectToken: ann });
    expect(answer).toMatchObject({ policyRule: 'identity', reason: 'credential token mismatch' });
    expect(seen).toEqual([]);
  });

  test('that expires before the check is judged is refused', async () => {
    const { subjects, gate } = plainIssuer();
    const { test, bot } = await governed('default: allow', subjects);
    const { promise, resolve } = Promise.withResolvers<void>();
    gate.opens = promise;
    const exp = test.clock.now() + 1000;
    const subjectToken = JSON.stringify({ sub: 'u', exp });
    const answers = [59_999, 60_000].map(async (after) => {
      const answer = checkAction(test.gov, checkOf({ agentId: bot.id, token: bot.token, subjectToken }));
      await promise;
      test.clock.advance(exp + after - test.clock.now());
      await new Promise(setImmediate);
      return test.settle(answer);
    });
    resolve();
    const [first, second] = [await answers[0], await answers[1]];
    expect([first?.decision, second?.reason]).toEqual(['deny', 'subject token: has expired']);
  });

  test('makes its own check wait for the issuer, and no other', async () => {
    const { subjects, gate } = plainIssuer();
    const { test, bot } = await governed('default: allow', subjects);
    const { promise, resolve } = Promise.withResolvers<void>();
    gate.opens = promise;
    let answered = false;
    const waiting = checkAction(test.gov, checkOf({ agentId: bot.id, token: bot.token, subjectToken: ann }));
    void waiting.then(() => (answered = true));
    expect(await test.check(bot)).toMatchObject({ decision: 'allow' });
    expect(answered).toBe(false);
    resolve();
    await new Promise(setImmediate);
    expect(await test.settle(waiting)).toMatchObject({ decision: 'allow' });
  });

  test('of one check in a batch is that of no other', async () => {
    const { test, bot } = await governed('rules: [{ effect: allow, users: ["*"] }]');
    const of = (subjectToken: string) => checkOf({ agentId: bot.id, token: bot.token, subjectToken });
    const answers = await finish(test, checkActions(test.gov, [of(ann), of(''), of('bad'), of(bob)]));
    expect(answers.map(({ policyRule }) => policyRule)).toEqual(['p/rule-1', 'default', 'identity', 'p/rule-1']);
    const users = (await test.audit()).map(({ payload }) => (payload as { user?: { sub: string } }).user?.sub);
    expect(users.slice(-4)).toEqual(['u-1', undefined, undefined, 'u-2']);
  });
});

test('what is held outlives the token that it was asked with; asking again takes one that is valid', async () => {
  const { test, bot } = await governed('default: allow\nrules: [{name: ask, effect: require_approval}]');
  const ids = { traceId: 't', spanId: 's' };
  const exp = test.clock.now() + 1000;
  const subjectToken = JSON.stringify({ sub: 'u-1', exp });
  const { approvalId } = await test.check(bot, { ...ids, subjectToken });
  test.clock.advance(61_000);
  const expired = { decision: 'deny', policyRule: 'identity', reason: 'subject token: has expired', opId: '' };
  expect(await test.check(bot, { ...ids, subjectToken })).toMatchObject(expired);
  expect(test.opsOf(bot.id).get('t:s')).toMatchObject({ state: 'pending' });
  // The user was proven when the agent asked, and that is what people decide about.
  await approve(test, approvalId, person('dev'));
  expect(test.opsOf(bot.id).get('t:s')).toMatchObject({ state: 'running' });
  expect(await test.check(bot, { ...ids, subjectToken })).toMatchObject(expired);
  const renewed = JSON.stringify({ sub: 'u-1', exp: test.clock.now() + 1000 });
  expect(await test.check(bot, { ...ids, subjectToken: renewed })).toMatchObject({ decision: 'allow', opId: 't:s' });
  expect(await test.check(bot, { ...ids, subjectToken: bob })).toMatchObject({ reason: anotherRequest });
});

test('of the tokens of a batch only a few are verified at a time, and each is answered in its place', async () => {
  const { subjects, gate } = plainIssuer();
  let [now, most] = [0, 0];
  const [issuer] = subjects.trusted;
  if (issuer === undefined) throw new Error('there is no issuer');
  const verify = async (token: string, leeway: number) => {
    most = Math.max(most, ++now);
    const check = await issuer.verifier.verify(token, leeway);
    await new Promise(setImmediate);
    now--;
    return check;
  };
  gate.opens = Promise.resolve();
  const { test, bot } = await governed('rules: [{ effect: allow, users: ["u-*"] }]', {
    trusted: [{ ...issuer, verifier: { verify } }],
  });
  const requests = Array.from({ length: 100 }, (_, nth) => {
    const subjectToken = nth % 7 === 0 ? 'bad' : JSON.stringify({ sub: `u-${nth}` });
    return checkOf({ agentId: bot.id, token: bot.token, subjectToken });
  });
  const state = { done: false };
  const answering = checkActions(test.gov, requests).finally(() => (state.done = true));
  while (!state.done) {
    test.turn();
    await new Promise(setImmediate);
  }
  const answers = await answering;
  expect(answers.map(({ decision }) => decision)).toEqual(requests.map((_, nth) => (nth % 7 === 0 ? 'deny' : 'allow')));
  expect(most).toBe(mostUnderWay);
});

describe('once verified', () => {
  test('the entry names the user, and nothing else of the token', async () => {
    const { test, bot } = await governed();
    await test.check(bot, { subjectToken: ann });
    const [entry] = (await test.audit()).slice(-1);
    expect(entry?.payload).toMatchObject({
      user: { issuer: 'https://id.example.com', sub: 'u-1', email: 'Ann@Example.com' },
    });
    expect(JSON.stringify(entry)).not.toContain('staff');
  });

  test.each([false, 'false'])('an email with email_verified: %j counts as none', async (verified) => {
    const { test, bot } = await governed('rules: [{ effect: allow, users: ["*@*"] }]');
    const token = { sub: 'u-1', email: 'a@b.c', email_verified: verified };
    expect(await test.check(bot, { subjectToken: JSON.stringify(token) })).toMatchObject({ decision: 'deny' });
    expect((await test.audit()).at(-1)?.payload).toMatchObject({ user: { sub: 'u-1', email: '' } });
  });

  test('the claims may have other names', async () => {
    const { subjects } = plainIssuer('https://id.example.com', { email: 'upn', groups: 'roles' });
    const { test, bot } = await governed('rules: [{ effect: allow, users: [ann@b.c], when: staff }]', subjects);
    const token = JSON.stringify({ sub: 'u-1', email: 'other@b.c', upn: 'ann@b.c', roles: 'staff' });
    expect(await test.check(bot, { subjectToken: token })).toMatchObject({ decision: 'allow' });
  });

  test('conditions see the user, and the log keeps the groups that one asked for', async () => {
    const { test, bot } = await governed('rules: [{ effect: allow, when: staff }]');
    expect(await test.check(bot, { subjectToken: ann })).toMatchObject({ decision: 'allow' });
    expect((await test.audit()).at(-1)?.payload).toMatchObject({ user_groups: ['staff'] });
    expect(await test.check(bot, { subjectToken: bob })).toMatchObject({ decision: 'deny' });
    expect(await test.check(bot)).toMatchObject({ decision: 'deny' });
  });

  test('the log finds entries by email in any letter case, and by sub', async () => {
    const { test, bot } = await governed();
    for (const subjectToken of [ann, bob, '']) await test.check(bot, { subjectToken });
    const log = test.store as MemoryStore;
    const found = async (user: string) => (await log.latest({ user, limit: 9 })).entries.length;
    expect(await Promise.all(['ann@EXAMPLE.com', 'u-1', 'U-1', 'u-2', 'u-3'].map(found))).toEqual([1, 1, 0, 1, 0]);
  });
});

describe('the matcher "users"', () => {
  const policy = `
rules:
  - { name: staff, effect: allow, users: ["*@example.com", "svc-*"] }
  - { name: not-bob, effect: deny, users: ["BOB@*"], tools: [mail] }
`;

  test.each([
    ['an email that fits', ann, 'allow', 'p/staff'],
    ['a sub where there is no email', JSON.stringify({ sub: 'svc-7' }), 'allow', 'p/staff'],
    ['a sub in another letter case', JSON.stringify({ sub: 'SVC-7' }), 'deny', 'default'],
    [
      'a sub that fits beside an email that does not',
      JSON.stringify({ sub: 'svc-7', email: 'x@y.z' }),
      'deny',
      'default',
    ],
    ['an email in another letter case', bob, 'deny', 'p/not-bob'],
    ['nobody', '', 'deny', 'default'],
  ])('judges %s', async (_, subjectToken, decision, policyRule) => {
    const { test, bot } = await governed(policy);
    expect(await test.check(bot, { subjectToken, action: useTool('mail') })).toMatchObject({ decision, policyRule });
  });

  test('holds only where a user is proven, for every effect', async () => {
    for (const effect of ['allow', 'deny', 'require_approval']) {
      const { test, bot } = await governed(`rules: [{ name: all, effect: ${effect}, users: ["*"] }]`);
      expect((await test.check(bot, { subjectToken: ann })).policyRule).toBe('p/all');
      expect((await test.check(bot)).policyRule).toBe('default');
    }
  });

  test('names no users in hints', async () => {
    const { test, bot } = await governed('rules: [{ effect: allow, tools: [mail], users: [boss@example.com] }]');
    const { reason } = await test.check(bot, { action: useTool('mail') });
    expect(reason).toContain('tool_call of mail for some users');
    expect(reason).not.toContain('boss');
  });
});

describe('a replay', () => {
  const same = { traceId: 't', spanId: 's' };

  test.each([
    ['another subject', ann, bob],
    ['a subject that it had not', '', ann],
    ['none of the subject it had', ann, ''],
  ])('with %s is another request', async (_, first, second) => {
    const { test, bot } = await governed();
    expect(await test.check(bot, { ...same, subjectToken: first })).toMatchObject({ decision: 'allow' });
    const again = { ...same, subjectToken: second };
    expect(await test.check(bot, again)).toMatchObject({ decision: 'deny', reason: anotherRequest });
    const restarted = await test.crash();
    expect(await restarted.check(bot, again)).toMatchObject({ decision: 'deny', reason: anotherRequest });
    expect(await restarted.check(bot, { ...same, subjectToken: first })).toMatchObject({ decision: 'allow' });
  });

  test('with a renewed token of the same user is a replay', async () => {
    const { test, bot } = await governed();
    await test.check(bot, { ...same, subjectToken: ann });
    expect(await test.check(bot, { ...same, subjectToken: annLater })).toMatchObject({ decision: 'allow' });
    expect((await test.audit()).at(-1)?.payload).toMatchObject({ replay: true });
  });

  test('at another gateway is told from another request, too', async () => {
    const { subjects } = plainIssuer();
    const { one, two, settled, register } = await twoGateways('default: allow', { subjects });
    const bot = await register('acme/search/bot');
    expect(await settled(one.check(bot, { ...same, subjectToken: ann }))).toMatchObject({ decision: 'allow' });
    expect(await settled(two.check(bot, { ...same, subjectToken: bob }))).toMatchObject({ reason: anotherRequest });
    expect(await settled(two.check(bot, { ...same, subjectToken: '' }))).toMatchObject({ reason: anotherRequest });
    expect(await settled(two.check(bot, { ...same, subjectToken: annLater }))).toMatchObject({ decision: 'allow' });
  });
});

describe('an approval', () => {
  const asking = 'rules: [{ name: ask, effect: require_approval, tools: [mail] }]';
  const mail = { action: useTool('mail') };

  test('shows the user, also after a restart and at another gateway', async () => {
    const { test, bot } = await governed(asking);
    const { approvalId } = await test.check(bot, { ...mail, subjectToken: ann });
    const user = { issuer: 'https://id.example.com', sub: 'u-1', email: 'Ann@Example.com' };
    expect(test.gov.approvals.find(approvalId)).toMatchObject({ user });
    expect((await test.crash()).gov.approvals.find(approvalId)).toMatchObject({ user });
    const requested = (await test.audit()).find(({ event_type: type }) => type === 'ApprovalRequested');
    expect(requested?.payload).toMatchObject({ user });

    const { one, two, settled, register, follow } = await twoGateways(asking, plainIssuer());
    const other = await register('acme/search/bot');
    const asked = await settled(one.check(other, { ...mail, subjectToken: ann }));
    await follow();
    expect(two.gov.approvals.find(asked.approvalId)).toMatchObject({ user });
  });

  test('grants nothing for another user, nor for the agent by itself', async () => {
    const { test, bot } = await governed(asking);
    const { approvalId } = await test.check(bot, { ...mail, subjectToken: ann });
    await approve(test, approvalId, person('ops'), { grant: { reach: 'until', until: test.clock.now() + 60_000 } });
    const decided = async (subjectToken: string) => (await test.check(bot, { ...mail, subjectToken })).decision;
    expect([await decided(annLater), await decided(bob), await decided('')]).toEqual(['allow', 'pending', 'pending']);
  });
});
