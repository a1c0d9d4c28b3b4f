import { correctBudget } from '../../budget/correct-budget.ts';
import { execute } from '../../commands.ts';
import { checkAction } from '../../decision/check-action.ts';
import { ownWork } from '../../journal/warrant.ts';
import { opPath } from '../../kernel/ids.ts';
import { OpsCheckpoint, sweepOps } from '../../ops/checkpoint.ts';
import { putPolicy } from '../../policy/store/change-policy.ts';
import { approveAction, controlScope, delegateAgent, deregisterAgent, liftSuspension } from '../commands.ts';
import { registerAgent, rejectAction, resumeAgent, revokeDelegation, suspendAgent, suspendScope } from '../commands.ts';
import { agentId, checkOf, operator, registration, useTool } from '../requests.ts';
import { askAbout } from '../results.ts';
import type { TestAgent, TestGovernance } from '../test-governance.ts';
import { sha256 } from '../test-governance.ts';
import type { World } from './world.ts';
import { complete, edit, newcomer, scope, usd } from './world.ts';

function control({ gov }: TestGovernance, { id }: TestAgent, op: string, action: 'pause' | 'terminate') {
  return execute(gov, { kind: 'control_op', by: operator, opId: opPath(id, `${op}:s`), action, reason: '' });
}

function report({ gov }: TestGovernance, { id, token }: TestAgent, tools: readonly string[]) {
  const changed = tools.map((each) => ({ tool: each, locked: sha256('before'), actual: sha256('now') }));
  return execute(gov, { kind: 'report_tools', agentId: id, token, source: 'fs', changed });
}

/** As housekeeping does it with runs that were quiet for long. */
function forgetRun({ gov }: TestGovernance, runId: string): void {
  const place = { orgId: 'acme', teamId: 'red', runId, agentId: '' };
  if (gov.runs.find(place) !== undefined)
    gov.journal.apply({ kind: 'runs_forgotten', runs: [place], at: gov.clock.now() });
}

type Deed = (at: TestGovernance, world: World) => Promise<unknown>;

const cost = (amount: number) => ({ estimatedCostMicros: amount * usd });
const tool = (name: string) => ({ action: useTool(name) });

/** What is done in one turn. */
export const turns: Readonly<Record<string, Deed>> = {
  'a check': (at, { check }) => check(at, 'boss', 'plain'),
  'a check that fits': (at, { check }) => check(at, 'three', 'fits', cost(2)),
  'a check that does not fit': (at, { check }) => check(at, 'boss', 'large', cost(5)),
  'a check near a share of the cap': (at, { check }) => check(at, 'boss', 'near', cost(0.75)),
  'a check in another org': (at, { check }) => check(at, 'away', 'mine', cost(2)),
  'another check in another org': (at, { check }) => check(at, 'other', 'theirs', cost(2)),
  'a check of a delegate': (at, { check }) => check(at, 'ex', 'of-ex', cost(1)),
  'a check that is too dear for a delegation': (at, { check }) => check(at, 'ex', 'dear', cost(2)),
  'another check of a delegate': (at, { check }) => check(at, 'why', 'of-why'),
  'a check that asks': (at, { check }) => check(at, 'boss', 'asks', tool('shell')),
  'a counted check': (at, { check }) => check(at, 'boss', 'counts', tool('counted')),
  'another counted check': (at, { check }) => check(at, 'two', 'counts-too', tool('counted')),
  'a check by what was spent': (at, { check }) => check(at, 'three', 'frugal', tool('frugal')),
  'a check in a run': (at, { check }) => check(at, 'boss', 'runs', { runId: 'r' }),
  'a check by its run': (at, { check }) => check(at, 'boss', 'calm', { runId: 'r', ...tool('calm') }),
  'a check of a delegate by its run': (at, { check }) => check(at, 'ex', 'calm-ex', { runId: 'r', ...tool('calm') }),
  'a check of a delegate in a run': (at, { check }) => check(at, 'why', 'runs-why', { runId: 'r' }),
  'a check that labels a run': (at, { check }) => check(at, 'boss', 'mails', { runId: 'r', ...tool('mail') }),
  'the same label by another': (at, { check }) => check(at, 'two', 'mails-too', { runId: 'r', ...tool('mail') }),
  'a check that labels an agent': (at, { check }) => check(at, 'boss', 'secret', tool('secret')),
  'a check of a delegate that labels': (at, { check }) => check(at, 'ex', 'secret-ex', tool('secret')),
  'a check by labels': (at, { check }) => check(at, 'boss', 'posts', { runId: 'r', ...tool('post') }),
  'a check of a delegate by labels': (at, { check }) => check(at, 'why', 'posts-why', { runId: 'r', ...tool('post') }),
  'a check that labels once it is approved': (at, { check }) =>
    check(at, 'two', 'webs', { runId: 'r', ...tool('web') }),
  'an approval that labels': (at, { labellingId }) =>
    approveAction(at.gov, operator, labellingId, { reason: '', grant: null }),
  'an approval of what labels may forbid': (at, { wiringId }) =>
    approveAction(at.gov, operator, wiringId, { reason: '', grant: null }),
  'a judgement that labels a run': (at, { agent }) => askAbout(at, agent('two'), 'reading:s', '1'),
  'a completion that labels a run': (at, { agent }) => complete(at, agent('two'), 'reading', 0),
  'a check that is rewritten': (at, { check }) => check(at, 'boss', 'edits', { runId: 'r', ...edit }),
  'a replay of what was rewritten': (at, { check }) => check(at, 'two', 'editing', { runId: 'r', ...edit }),
  'a check by labels of its own run': (at, { check }) => check(at, 'two', 'posts-own', tool('post')),
  'a clearing of labels': (at) =>
    execute(at.gov, { kind: 'clear_labels', by: operator, orgId: 'acme', teamId: 'red', runId: 'r0', reason: '' }),
  'a forgetting of that run': (at) => at.gov.journal.turn(ownWork, () => forgetRun(at, 'r0')),
  'a check in a labelled run': (at, { check }) => check(at, 'boss', 'posts-0', { runId: 'r0', ...tool('post') }),
  'a check in a held run': (at, { check }) => check(at, 'boss', 'holds', { runId: 'r2' }),
  'a replay': (at, { check }) => check(at, 'two', 'held', cost(5)),
  'a check of a suspended agent': (at, { check }) => check(at, 'still', 'stands'),
  'a check in a suspended team': (at, { check }) => check(at, 'team', 'stays'),
  'a check of a stranger': (at) =>
    checkAction(at.gov, checkOf({ agentId: newcomer.id, token: newcomer.token, traceId: 'n', spanId: 's' })),
  'a check with a foreign token': (at, { agent }) =>
    checkAction(at.gov, checkOf({ agentId: agent('two').id, token: newcomer.token, traceId: 'f', spanId: 's' })),
  'a completion': (at, { agent }) => complete(at, agent('two'), 'held', 1),
  'a judgement of a result': (at, { agent }) => askAbout(at, agent('two'), 'held:s', '{"a":1}'),
  'a dear completion': (at, { agent }) => complete(at, agent('two'), 'held', 9),
  'a completion of a delegate': (at, { agent }) => complete(at, agent('why'), 'above', 1),
  'a termination': (at, { agent }) => control(at, agent('two'), 'held', 'terminate'),
  'a termination of a delegate': (at, { agent }) => control(at, agent('why'), 'above', 'terminate'),
  'a pause': (at, { agent }) => control(at, agent('two'), 'held', 'pause'),
  'a pause by its id alone': (at) =>
    execute(at.gov, { kind: 'control_op', by: operator, opId: 'held:s', action: 'pause', reason: '' }),
  'another operation with that id': (at, { check }) => check(at, 'boss', 'held'),
  'an approval': (at, { approvalId }) => approveAction(at.gov, operator, approvalId, { reason: '', grant: null }),
  'a rejection': (at, { approvalId }) => rejectAction(at.gov, operator, approvalId, ''),
  'a suspension': (at, { agent }) => suspendAgent(at.gov, operator, agent('boss').id, ''),
  'a resumption': (at, { agent }) => resumeAgent(at.gov, operator, agent('still').id, ''),
  'a registration': (at) => registerAgent(at.gov, operator, registration(newcomer.id, { token: newcomer.token })),
  'a registration with the same token': (at) =>
    registerAgent(at.gov, operator, registration(agentId('far/x/same'), { token: newcomer.token })),
  'a departure': (at, { agent }) =>
    deregisterAgent(at.gov, { agentId: agent('two').id, token: agent('two').token, reason: '' }),
  'a departure of a delegator': (at, { agent }) =>
    deregisterAgent(at.gov, { agentId: agent('boss').id, token: agent('boss').token, reason: '' }),
  'a delegation': (at, { agent }) => delegateAgent(at.gov, agent('boss'), 'more'),
  'a delegation of a delegate': (at, { agent }) => delegateAgent(at.gov, agent('helper'), 'below'),
  'a delegation below that one': (at, { agent }) => delegateAgent(at.gov, agent('ex'), 'below-ex'),
  'the end of a delegation': (at, { agent }) => revokeDelegation(at.gov, agent('boss'), 'helper'),
  'a report of changed tools': (at, { agent }) => report(at, agent('two'), ['read']),
  'a report of these and more': (at, { agent }) => report(at, agent('two'), ['read', 'write']),
  'a correction': (at) => correctBudget(at.gov, operator, { orgId: 'acme', amountUsd: '2.6', reason: 'x' }),
  'a correction to less': (at) => correctBudget(at.gov, operator, { orgId: 'acme', amountUsd: '-1', reason: 'x' }),
  'a save of rows': (at) => at.gov.journal.turn(ownWork, () => new OpsCheckpoint(at.gov, 1, 1, 0).step(50)),
  'a sweep': (at) => at.gov.journal.turn(ownWork, () => sweepOps(at.gov)),
  'a save of balances': (at) => at.gov.journal.turn(ownWork, () => at.gov.balances.save(100)),
};

/** What takes several turns, or is done for the sake of what comes later. */
const works: Readonly<Record<string, Deed>> = {
  'another request with its id': (at, { check }) => check(at, 'boss', 'counts'),
  'a free check with its id': (at, { check }) => check(at, 'boss', 'near'),
  'the same check outside of a run': (at, { check }) => check(at, 'boss', 'runs'),
  'a suspension of a team': (at) => suspendScope(at.gov, operator, { orgId: 'acme', teamId: 'red' }),
  'a suspension of everything': (at) => suspendScope(at.gov, operator, { action: 'terminate' }),
  'the end of a suspension': (at, { suspension }) => liftSuspension(at.gov, operator, suspension),
  'a hold of a run': (at) => controlScope(at.gov, operator, scope('acme', 'r')),
  'the end of a hold': (at) => controlScope(at.gov, operator, { ...scope('acme', 'r2'), action: 'resume' }),
  'other caps': (at) =>
    putPolicy(at.gov, operator, { name: 'caps', source: 'name: caps\nbudget: { daily_limit_usd: 6 }\n', note: '' }),
  'a rule of an org': (at) =>
    putPolicy(at.gov, operator, {
      name: 'no',
      source: 'name: no\nscope: org:acme\nrules: [{ name: no, effect: deny, tools: ["*"] }]\n',
      note: '',
    }),
};

export const firsts = { ...turns, ...works };
