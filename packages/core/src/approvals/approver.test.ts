import { beforeEach, describe, expect, test } from 'vitest';
import type { KnownAccount } from '../access/known-account.ts';
import type { UserId } from '../action/user.ts';
import { userFrom } from '../action/user.ts';
import { approve, person, reject } from '../testkit/approvals.ts';
import { agentId, operator, operatorKey, useTool } from '../testkit/requests.ts';
import type { TestAgent, TestGovernance } from '../testkit/test-governance.ts';
import { testGovernance } from '../testkit/test-governance.ts';
import { approversWords, readApprover } from './approver.ts';
import { refusalOfVerdict } from './give-verdict.ts';

const issuer = 'https://login.example';
const accounts: readonly KnownAccount[] = [
  { id: 'olga', role: 'owner', email: 'Olga@Example.com', identities: [] },
  { id: 'dev', role: 'developer', email: 'dev@example.com', identities: [{ issuer, subject: 'd-1' }] },
  { id: 'cfo', role: 'developer', email: 'CFO@Finance.Example.com', identities: [] },
  { id: 'kelvin', role: 'owner', email: '\u212Ai@finance.example.com', identities: [] },
];
const findAccounts = (ids: readonly string[]) => Promise.resolve(accounts.filter(({ id }) => ids.includes(id)));

const policy = `name: p
default: allow
rules:
  - { name: owners, effect: require_approval, tools: [deploy, both], approvals: { by: { roles: [owner] } } }
  - { name: admins, effect: require_approval, tools: [admin], approvals: { by: { roles: [admin] } } }
  - { name: money, effect: require_approval, tools: [pay, both], approvals: { by: { emails: ["*@Finance.example.com"] } } }
  - { name: owner-of-money, effect: require_approval, tools: [close], approvals: { by: { roles: [owner], emails: ["ki@finance.example.com"] } } }
  - { name: not-mine, effect: require_approval, tools: [own, mine], approvals: { not_user: true } }
  - { name: free, effect: require_approval, tools: [own] }
`;

let world: TestGovernance;
let bot: TestAgent;
let asked = 0;

beforeEach(async () => {
  world = await testGovernance({ findAccounts });
  await world.policies(policy);
  bot = await world.register(agentId('acme/search/bot'));
});

async function held(tool: string, user?: UserId, members: object = {}): Promise<string> {
  const request = { traceId: `t${++asked}`, spanId: 's', action: useTool(tool), ...members };
  const { approvalId } = await world.check(bot, user === undefined ? request : { ...request, user: userFrom(user) });
  expect(approvalId).not.toBe('');
  return approvalId;
}

const keyOf = (id: string, madeBy: string | null, scopes = operator.scopes) => {
  const maker = madeBy === null ? null : ({ kind: 'account', id: madeBy } as const);
  world.gov.keys.put({ ...operatorKey, id, hash: id, madeBy: maker, scopes });
  return { ...operator, actor: { id, kind: 'api_key', label: id } as const, credentialId: id, scopes };
};

describe('by', () => {
  test('counts only verdicts of a role, approvals and rejections alike', async () => {
    const id = await held('deploy');
    await expect(approve(world, id, person('dev'))).rejects.toMatchObject({ code: 'not_an_approver' });
    await expect(reject(world, id, person('dev'))).rejects.toMatchObject({
      code: 'not_an_approver',
      message: 'your verdict does not count: a rule asks for somebody with the role owner',
    });
    expect((await approve(world, id, person('olga'))).state).toBe('approved');
  });

  test('compares emails without letter case, and not what merely looks alike', async () => {
    const id = await held('pay');
    await expect(approve(world, id, person('olga'))).rejects.toMatchObject({ code: 'not_an_approver' });
    expect((await approve(world, id, person('cfo'))).state).toBe('approved');
    const close = await held('close');
    await expect(approve(world, close, person('kelvin'))).rejects.toMatchObject({ code: 'not_an_approver' });
  });

  test('role and email must both hold if a rule names both', async () => {
    const id = await held('close');
    for (const one of ['olga', 'cfo']) {
      await expect(approve(world, id, person(one))).rejects.toMatchObject({ code: 'not_an_approver' });
    }
  });

  test('of several rules, all must be met', async () => {
    const id = await held('both');
    for (const one of ['olga', 'cfo', 'dev']) {
      await expect(approve(world, id, person(one))).rejects.toMatchObject({ code: 'not_an_approver' });
    }
    expect((await approve(world, id, person('kelvin'))).state).toBe('approved');
  });

  test('a key has the role of the account that made it; one without an account is admin if it has that scope', async () => {
    const id = await held('admin');
    await expect(approve(world, id, keyOf('of-dev', 'dev'))).rejects.toMatchObject({ code: 'not_an_approver' });
    await expect(approve(world, id, keyOf('plain', null, ['write']))).rejects.toMatchObject({
      code: 'not_an_approver',
    });
    const deploy = await held('deploy');
    await expect(approve(world, deploy, keyOf('bare', null))).rejects.toMatchObject({ code: 'not_an_approver' });
    expect((await approve(world, deploy, keyOf('of-olga', 'olga', ['write']))).state).toBe('approved');
    expect((await approve(world, id, keyOf('bare', null))).state).toBe('approved');
    await expect(approve(world, await held('pay'), keyOf('bare', null))).rejects.toMatchObject({
      code: 'not_an_approver',
    });
  });

  test('every account that may hold a key must count, and one that nobody can read does not', async () => {
    const id = await held('deploy');
    keyOf('first', 'olga');
    world.gov.keys.put({
      ...operatorKey,
      id: 'turned',
      hash: 'turned',
      madeBy: { kind: 'account', id: 'dev' },
      rotatedFrom: 'first',
    });
    const turned = {
      ...operator,
      actor: { id: 'turned', kind: 'api_key', label: '' } as const,
      credentialId: 'turned',
    };
    await expect(approve(world, id, turned)).rejects.toMatchObject({ code: 'not_an_approver' });
    await expect(approve(world, id, person('gone'))).rejects.toMatchObject({ code: 'not_an_approver' });
  });

  test('is kept with the approval, over a restart and a change of policy', async () => {
    const id = await held('deploy');
    await world.policies('name: p\ndefault: allow\n');
    world = await world.crash();
    await expect(approve(world, id, person('dev'))).rejects.toMatchObject({ code: 'not_an_approver' });
    expect((await approve(world, id, person('olga'))).state).toBe('approved');
    const entry = (await world.audit()).find(({ event_type: type }) => type === 'ApprovalRequested');
    expect(entry?.payload).toMatchObject({ by: [{ roles: ['owner'] }] });
  });

  test('more sets of terms than are remembered are met by nobody', async () => {
    const rules = Array.from(
      { length: 70 },
      (_, at) =>
        `  - { name: r${at}, effect: require_approval, approvals: { by: { emails: ["*@finance.example.com", "x${at}@y.z"] } } }`,
    );
    await world.policies(`name: p\ndefault: allow\nrules:\n${rules.join('\n')}\n`);
    await expect(approve(world, await held('any'), person('cfo'))).rejects.toMatchObject({ code: 'not_an_approver' });
  });
});

describe('not_user', () => {
  const user = { issuer, sub: 'd-1', email: '' };

  test('the account that is linked to the user, or has their email, does not count; nor does a key of it', async () => {
    for (const whom of [user, { issuer: 'https://other.example', sub: 'x', email: 'DEV@example.com' }]) {
      const id = await held('mine', whom);
      for (const by of [person('dev'), keyOf('of-dev', 'dev')]) {
        await expect(approve(world, id, by)).rejects.toMatchObject({ code: 'own_request' });
        await expect(reject(world, id, by)).rejects.toMatchObject({ code: 'own_request' });
      }
      expect((await approve(world, id, person('cfo'))).state).toBe('approved');
    }
  });

  test('the same subject of another issuer is somebody else', async () => {
    const id = await held('mine', { issuer: 'https://other.example', sub: 'd-1', email: '' });
    expect((await approve(world, id, person('dev'))).state).toBe('approved');
  });

  test('one rule that says so is enough; where none does, the user decides', async () => {
    await expect(approve(world, await held('own', user), person('dev'))).rejects.toMatchObject({ code: 'own_request' });
    await world.policies('name: q\ndefault: allow\nrules: [{ name: free, effect: require_approval, tools: [own] }]\n');
    expect((await approve(world, await held('own', user), person('dev'))).state).toBe('approved');
  });

  test('survives a restart', async () => {
    const id = await held('mine', user);
    world = await world.crash();
    await expect(approve(world, id, person('dev'))).rejects.toMatchObject({ code: 'own_request' });
  });

  test('a grant does not spare the approver who gave it an approval of somebody else', async () => {
    const first = await held('mine', user, { runId: 'r' });
    await approve(world, first, person('cfo'), { grant: { reach: 'run' } });
    const again = { traceId: 'again', spanId: 's', action: useTool('mine'), runId: 'r' };
    expect((await world.check(bot, { ...again, user: userFrom(user) })).decision).toBe('allow');
    const cfo = { issuer: 'i', sub: 'c', email: 'cfo@finance.example.com' };
    expect((await world.check(bot, { ...again, traceId: 'cfo', user: userFrom(cfo) })).decision).toBe('pending');
    expect((await world.check(bot, { ...again, traceId: 'nobody' })).decision).toBe('pending');
  });
});

test('a grant that the user gave covers nothing once a rule keeps the user from deciding', async () => {
  const user = { issuer: 'https://issuer.example', sub: 'd-1', email: '' };
  const rule = (terms: string) =>
    `name: p\ndefault: allow\nrules: [{ name: r, effect: require_approval, approvals: ${terms} }]\n`;
  await world.policies(rule('{ count: 1 }'));
  await approve(world, await held('x', user, { runId: 'r' }), person('dev'), { grant: { reach: 'run' } });
  const check = (traceId: string) =>
    world.check(bot, { traceId, spanId: 's', action: useTool('x'), runId: 'r', user: userFrom(user) });
  expect((await check('a')).decision).toBe('allow');
  await world.policies(rule('{ count: 1, not_user: true }'));
  expect((await check('b')).decision).toBe('pending');
});

test('a grant covers no action whose rules name other approvers by now', async () => {
  const rule = (by: string) =>
    `name: p\ndefault: allow\nrules: [{ name: r, effect: require_approval, approvals: { by: ${by} } }]\n`;
  await world.policies(rule('{ roles: [developer] }'));
  await approve(world, await held('x', undefined, { runId: 'r' }), person('dev'), { grant: { reach: 'run' } });
  const check = (traceId: string) => world.check(bot, { traceId, spanId: 's', action: useTool('x'), runId: 'r' });
  expect((await check('a')).decision).toBe('allow');
  await world.policies(rule('{ roles: [owner] }'));
  expect((await check('b')).decision).toBe('pending');
});

test('whoever asks is told beforehand why a verdict would be refused, and whose counts', async () => {
  const id = await held('deploy');
  const approval = world.gov.approvals.find(id);
  if (approval === undefined) throw new Error('there is no approval');
  const told = async (name: string) => {
    const approver = await readApprover(world.gov, person(name), [approval]);
    return refusalOfVerdict(world.gov, approver, approval)?.code;
  };
  expect(await told('dev')).toBe('not_an_approver');
  expect(await told('olga')).toBeUndefined();
  expect(approversWords(approval)).toBe('somebody with the role owner');
});
