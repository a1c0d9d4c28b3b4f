import { expect, test } from 'vitest';
import { agentId } from '../testkit/requests.ts';
import { sha256, testGovernance } from '../testkit/test-governance.ts';
import { agentKey, isId, parseAgentId } from '../kernel/ids.ts';
import { authenticateAgent, heartbeat, identify, identifyByToken } from './identify.ts';

const bot = agentId('acme/search/bot');
const other = agentId('umbrella/search/bot');

test('who presents its own token is known, and every other way to fail has its name', async () => {
  const test = await testGovernance();
  const mine = await test.register(bot);
  const theirs = await test.register(other);
  const ghost = agentId('acme/search/ghost');
  const identity = (claim: typeof bot, token: string) => identify(test.gov, claim, token);

  expect(identity(bot, mine.token)).toEqual({ known: true, agent: test.known(bot) });
  const acme = test.known(bot);
  const umbrella = test.known(other);
  expect(identity(bot, '')).toEqual({
    known: false,
    reason: 'missing credential token',
    claimed: acme,
    owner: undefined,
  });
  expect(identity(bot, 'x')).toEqual({
    known: false,
    reason: 'credential token mismatch',
    claimed: acme,
    owner: undefined,
  });
  expect(identity(ghost, 'x')).toEqual({
    known: false,
    reason: 'agent is not registered',
    claimed: undefined,
    owner: undefined,
  });
  const stolen = 'credential token registered to a different agent';
  expect(identity(bot, theirs.token)).toEqual({ known: false, reason: stolen, claimed: acme, owner: umbrella });
  expect(identity(ghost, mine.token)).toEqual({ known: false, reason: stolen, claimed: undefined, owner: acme });
  test.gov.directory.put({ ...acme.record, suspension: { at: 0, reason: '', width: 'unbound' } }, 0);
  expect(identity(bot, mine.token)).toEqual({
    known: false,
    reason: 'agent is suspended',
    claimed: acme,
    owner: undefined,
  });
});

test('a token counts as a whole: neither part of it nor its hash will do', async () => {
  const test = await testGovernance();
  const { token } = await test.register(bot);
  for (const tried of [
    token.slice(0, -1),
    `${token} `,
    ` ${token}`,
    token.toUpperCase(),
    sha256(token),
    test.known(bot).record.tokenHash ?? '',
  ]) {
    expect(identify(test.gov, bot, tried)).toMatchObject({
      known: false,
      reason: 'credential token mismatch',
    });
  }
});

test('a suspended agent may still report and hear', async () => {
  const test = await testGovernance();
  const { token } = await test.register(bot);
  test.gov.directory.put({ ...test.known(bot).record, suspension: { at: 0, reason: '', width: 'unbound' } }, 0);
  expect(authenticateAgent(test.gov, bot, token)).toBe(test.known(bot));
  expect(heartbeat(test.gov, bot, token)).toEqual({ suspended: true, policyVersion: 'none' });
});

test('a token alone says whose it is, and whether that agent is suspended', async () => {
  const test = await testGovernance();
  const { token } = await test.register(bot);
  await test.register(other);
  const before = { ...test.known(bot) };
  const commits = test.commits.length;
  test.clock.advance(5000);
  expect(identifyByToken(test.gov, token)).toEqual({ agentId: bot, suspended: false, expiresAt: null, ttlSecs: null });
  test.turn();
  expect(test.commits.length).toBe(commits);
  expect(test.known(bot)).toEqual(before);
  test.gov.directory.put({ ...test.known(bot).record, suspension: { at: 0, reason: '', width: 'unbound' } }, 0);
  expect(identifyByToken(test.gov, token)).toEqual({ agentId: bot, suspended: true, expiresAt: null, ttlSecs: null });
});

test("a token that is nobody's, no longer or not quite, names nobody", async () => {
  const test = await testGovernance();
  const first = await test.register(bot);
  const { token } = await test.register(bot);
  const left = await test.register(other);
  await test.deregister(left);
  for (const tried of ['', first.token, left.token, token.slice(0, -1), `${token} `, sha256(token)]) {
    expect(() => identifyByToken(test.gov, tried)).toThrow(expect.objectContaining({ code: 'unauthenticated' }));
  }
});

test('a heartbeat tells that the agent is alive, and which policies are in force', async () => {
  const test = await testGovernance();
  await test.policies('default: allow');
  const { token } = await test.register(bot);
  test.clock.advance(5000);
  expect(heartbeat(test.gov, bot, token)).toEqual({ suspended: false, policyVersion: test.gov.policies.version });
  expect(test.known(bot).lastSeenAt).toBe(test.clock.now());
});

test.each(['', 'x'.repeat(40)])('a call with the wrong token %j is refused', async (token) => {
  const test = await testGovernance();
  await test.register(bot);
  expect(() => authenticateAgent(test.gov, bot, token)).toThrow(expect.objectContaining({ code: 'unauthenticated' }));
  expect(() => authenticateAgent(test.gov, undefined, token)).toThrow(
    expect.objectContaining({ code: 'invalid_argument' }),
  );
});

test.each([
  ['a', true],
  ['A1._-', true],
  ['0', true],
  ['a'.repeat(128), true],
  ['', false],
  ['.a', false],
  ['-a', false],
  ['_a', false],
  ['a b', false],
  ['a/b', false],
  ['a:b', false],
  ['a\n', false],
  ['ä', false],
  ['a'.repeat(129), false],
])('%j as an id: %s', (text, good) => {
  expect(isId(text)).toBe(good);
});

test('org and team may be empty, the agent may not', () => {
  expect(parseAgentId(agentId('//bot'))).toEqual({ orgId: '', teamId: '', agentId: 'bot' });
  expect(() => parseAgentId(agentId('acme/search/'))).toThrow(expect.objectContaining({ code: 'invalid_argument' }));
});

test('different triples have different keys', () => {
  const triples = ['acme/search/bot', 'acme//bot', '/acme/bot', '//bot', 'acme/bot/search'].map(agentId);
  expect(new Set(triples.map(agentKey)).size).toBe(triples.length);
});
