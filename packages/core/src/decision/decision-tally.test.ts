import { describe, expect, test } from 'vitest';
import type { Principal } from '../access/principal.ts';
import { bareRecord } from '../ops/op.ts';
import type { OpsChangeEvent } from '../ops/ops-slice.ts';
import { agentId } from '../testkit/requests.ts';
import type { DecisionEvent } from './answer.ts';
import { DecisionTally } from './decision-tally.ts';

const start = Date.UTC(2026, 0, 1, 12, 0, 30);
const minute = 60_000;

const unbound: Principal = {
  actor: { kind: 'api_key', id: 'k', label: 'k' },
  credentialId: 'k',
  expiresAt: null,
  asOf: 0,
  scopes: ['read'],
  orgId: null,
  teamId: null,
};

function event(at: number, decision: DecisionEvent['decision'], more: Partial<DecisionEvent> = {}): DecisionEvent {
  const agent = { orgId: 'acme', teamId: 'core', agentId: 'bot' };
  return { type: 'decision', at, agent, decision, reason: 'why', policyRule: 'base/no', opId: 'a:b', ...more };
}

describe('the tally of decisions', () => {
  test('counts by minute, the newest last, and leaves out those without a decision', () => {
    const tally = new DecisionTally(start);
    tally.follow([event(start, 'allow'), event(start, 'deny'), event(start + 2 * minute, 'pending')]);
    const { minutes, since } = tally.read(unbound, {}, start + 3 * minute, 60);
    expect(since).toBe(start);
    expect(minutes).toEqual([
      { at: start - 30_000, allow: 1, deny: 1, pending: 0 },
      { at: start - 30_000 + 2 * minute, allow: 0, deny: 0, pending: 1 },
    ]);
  });

  test('counts a decision that is said with its operation, and no other move of one', () => {
    const tally = new DecisionTally(start);
    const agent = agentId('acme/core/bot');
    const moved = (state: 'running' | 'terminated' | 'paused', more: Partial<OpsChangeEvent>): OpsChangeEvent => {
      const op = { ...bareRecord(agent, 't:s', start), state, reason: 'why', policyRule: 'base/no' };
      return { type: 'ops_change', at: start, agent, op, ...more };
    };
    tally.follow([
      moved('running', { checked: true, shows: 'arrival and decision' }),
      moved('terminated', { checked: true, shows: 'decision' }),
      moved('paused', {}),
      moved('running', {}),
    ]);
    const { minutes, topDenials } = tally.read(unbound, {}, start, 60);
    expect(minutes).toEqual([{ at: start - 30_000, allow: 1, deny: 1, pending: 0 }]);
    expect(topDenials).toEqual([{ policyRule: 'base/no', reason: 'why', count: 1, lastAt: start }]);
  });

  test('says nothing of the time before it began, nor of more minutes than asked for', () => {
    const tally = new DecisionTally(start);
    for (let at = 0; at < 1000; at++) tally.follow([event(start + at * minute, 'allow')]);
    expect(tally.read(unbound, {}, start, 60).minutes).toHaveLength(0);
    expect(tally.read(unbound, {}, start + 999 * minute, 60).minutes).toHaveLength(60);
    expect(tally.read(unbound, {}, start + 999 * minute, 5000).minutes).toHaveLength(180);
  });

  test('names the rules that denied most, with what the last was told', () => {
    const tally = new DecisionTally(start);
    tally.follow([
      event(start, 'deny', { policyRule: 'a/x' }),
      event(start + 1, 'deny', { policyRule: 'b/y', reason: 'first' }),
      event(start + minute, 'deny', { policyRule: 'b/y', reason: 'last' }),
      event(start, 'allow', { policyRule: 'c/z' }),
    ]);
    expect(tally.read(unbound, {}, start + minute, 60).topDenials).toEqual([
      { policyRule: 'b/y', reason: 'last', count: 2, lastAt: start + minute },
      { policyRule: 'a/x', reason: 'why', count: 1, lastAt: start },
    ]);
  });

  test('shows a tenant its own, and a filter only narrows', () => {
    const tally = new DecisionTally(start);
    const other = { orgId: 'beta', teamId: 'core', agentId: 'bot' };
    tally.follow([event(start, 'deny'), event(start, 'deny', { agent: other, policyRule: 'beta/secret' })]);
    const sum = (by: Principal, filter = {}) => {
      const { minutes, topDenials } = tally.read(by, filter, start, 60);
      return [minutes.reduce((all, { deny }) => all + deny, 0), topDenials.map(({ policyRule }) => policyRule)];
    };
    expect(sum(unbound)).toEqual([2, ['base/no', 'beta/secret']]);
    expect(sum(unbound, { orgId: 'beta' })).toEqual([1, ['beta/secret']]);
    expect(sum({ ...unbound, orgId: 'acme' })).toEqual([1, ['base/no']]);
    expect(sum({ ...unbound, orgId: 'acme' }, { orgId: 'beta' })).toEqual([0, []]);
    expect(sum({ ...unbound, orgId: 'acme', teamId: 'ops' })).toEqual([0, []]);
    // A tenant does not even learn how many minutes another tenant has.
    expect(tally.read({ ...unbound, orgId: 'acme' }, { orgId: 'beta' }, start, 60).minutes).toEqual([]);
  });

  test('forgets what is older than it can tell, and keeps few rules of a minute', () => {
    const tally = new DecisionTally(start);
    for (let at = 0; at < 400; at++) tally.follow([event(start + at * minute, 'allow')]);
    for (let rule = 0; rule < 500; rule++) {
      tally.follow([event(start + 400 * minute, 'deny', { policyRule: `r/${rule}` })]);
    }
    const { minutes, topDenials } = tally.read(unbound, {}, start + 400 * minute, 180);
    expect(minutes.reduce((sum, { allow }) => sum + allow, 0)).toBe(179);
    expect(minutes.at(-1)?.deny).toBe(500);
    expect(topDenials).toHaveLength(10);
  });

  test('a clock that was set back counts into the newest minute', () => {
    const tally = new DecisionTally(start);
    tally.follow([event(start + minute, 'allow'), event(start, 'allow')]);
    expect(tally.read(unbound, {}, start + minute, 60).minutes.map(({ allow }) => allow)).toEqual([2]);
  });
});
