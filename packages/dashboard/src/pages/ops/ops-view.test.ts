import { describe, expect, test } from 'vitest';
import type { Op } from './op.ts';
import type { OpsFilter } from './ops-search.ts';
import { choicesOf, countStates, matcherOf, nextSort, sortRows, viewOf } from './ops-view.ts';
import type { Row } from './row-model.ts';
import { newRow } from './row-model.ts';
import { aControl, anOp, at } from './testkit.ts';

let ids = 0;
const row = (members: Partial<Op> = {}): Row => newRow(anOp({ op_id: `t:${ids++}`, ...members }), 0);
const bot = (org_id: string, team_id: string, agent_id: string) => ({ agent: { org_id, team_id, agent_id } });
const all = (...rows: readonly Row[]) => new Map(rows.map((each) => [each.key, each]));

describe('a filter', () => {
  const subject = row({ ...bot('acme', '', 'mail-bot'), run_id: 'r1', summary: 'Refund order 17', resource: 'stripe' });
  test.each<[OpsFilter, boolean]>([
    [{}, true],
    [{ org_id: 'acme' }, true],
    [{ org_id: 'ac' }, false],
    [{ team_id: '-' }, true],
    [{ org_id: '-' }, false],
    [{ agent_id: 'mail-bot', run_id: 'r1' }, true],
    [{ run_id: 'r' }, false],
    [{ door: 'sdk' }, true],
    [{ door: 'mcp' }, false],
    [{ q: 'REFUND stripe' }, true],
    [{ q: 'refund paypal' }, false],
    [{ q: 'tool_call' }, true],
    [{ state: 'in_flight' }, true],
    [{ state: 'ended' }, false],
    [{ state: 'paused' }, false],
  ])('%o: %s', (filter, fits) => expect(matcherOf(filter)(subject)).toBe(fits));

  test('shows what is in flight unless all is asked for, and what an operator has ended until it fades', () => {
    const ended = row({ state: 'completing' });
    expect(matcherOf({})(ended)).toBe(false);
    expect(matcherOf({ state: 'all' })(ended)).toBe(true);
    const stopped = row({ state: 'terminated', control: aControl({ action: 'terminate' }) });
    expect(matcherOf({})(stopped)).toBe(true);
    expect(countStates([ended, stopped], {})).toMatchObject({ in_flight: 0, ended: 2, all: 2 });
  });

  test('takes text as it is', () => {
    expect(matcherOf({ q: '(.*' })(subject)).toBe(false);
  });
});

describe('the order', () => {
  const first = row({ registered_at: at(1), cost_micros: 900, state: 'paused' });
  const second = row({ registered_at: at(2), cost_micros: 1000, state: 'running' });
  const third = row({ registered_at: at(3), cost_micros: 1000, state: 'pending' });
  const rows = [second, first, third];

  test('is newest first, and by what was asked for, the newest first among equals', () => {
    expect(sortRows(rows)).toEqual([third, second, first]);
    expect(sortRows(rows, '-age')).toEqual([first, second, third]);
    expect(sortRows(rows, '-cost')).toEqual([third, second, first]);
    expect(sortRows(rows, 'cost')).toEqual([first, third, second]);
    expect(sortRows(rows, 'state')).toEqual([third, second, first]);
  });

  test('turns and goes back by clicks on a header', () => {
    expect([undefined, 'agent', '-agent'].map((now) => nextSort(now as never, 'agent'))).toEqual([
      'agent',
      '-agent',
      undefined,
    ]);
    expect([undefined, '-cost', 'cost'].map((now) => nextSort(now as never, 'cost'))).toEqual([
      '-cost',
      'cost',
      undefined,
    ]);
    expect([undefined, '-age'].map((now) => nextSort(now as never, 'age'))).toEqual(['-age', undefined]);
  });
});

describe('a frozen list', () => {
  const old = row({ registered_at: at(1) });
  const fresh = row({ registered_at: at(2) });

  test('shows its rows as they are now, and counts what is new', () => {
    const ended = { ...old, op: { ...old.op, state: 'terminated' as const } };
    const other = row({ ...bot('umbrella', '', 'x') });
    const view = viewOf(all(ended, fresh, other), { org_id: 'acme', state: 'in_flight' }, [old.key]);
    expect(view).toEqual({ rows: [ended], fresh: 1 });
  });

  test('that moves on shows what fits', () => {
    expect(viewOf(all(old, fresh), {}, undefined)).toEqual({ rows: [fresh, old], fresh: 0 });
    expect(viewOf(all({ ...old, isGone: true }), {}, undefined).rows).toEqual([]);
  });
});

test('states are counted among what the other filters leave', () => {
  const rows = [
    row({ state: 'running' }),
    row({ state: 'paused' }),
    row({ state: 'completing' }),
    row(bot('x', '', 'y')),
  ];
  expect(countStates(rows, { org_id: 'acme', state: 'paused' })).toEqual({
    all: 3,
    in_flight: 2,
    pending: 0,
    running: 1,
    paused: 1,
    ended: 1,
  });
});

test('choices are what there is within the tiers above, and what is chosen', () => {
  const rows = [row(bot('acme', 'core', 'a')), row(bot('acme', '', 'b')), row(bot('umbrella', 'lab', 'c'))];
  expect(choicesOf(rows, { org_id: 'acme' }, 'org_id')).toEqual(['acme', 'umbrella']);
  expect(choicesOf(rows, { org_id: 'acme' }, 'team_id')).toEqual(['-', 'core']);
  expect(choicesOf(rows, { org_id: 'acme', team_id: 'core' }, 'agent_id')).toEqual(['a']);
  expect(choicesOf(rows, { run_id: 'gone' }, 'run_id')).toEqual(['gone']);
});
