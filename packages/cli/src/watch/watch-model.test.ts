import { expect, test } from 'vitest';
import type { Op } from '../commands/op-filters.ts';
import { textWidth } from '../output/text-width.ts';
import { renderWatch } from './render-watch.ts';
import { keysIn } from './screen.ts';
import { WatchModel } from './watch-model.ts';

function op(id: string, more: Partial<Op> = {}): Op {
  return {
    op_id: `${id}:s`,
    state: 'running',
    registered_at: `2026-11-15T00:00:0${id.length}.000Z`,
    updated_at: '2026-11-15T00:00:00.000Z',
    agent: { org_id: 'acme', team_id: 'core', agent_id: 'bot' },
    action_type: 'tool_call',
    resource: 'search',
    summary: '',
    run_id: '',
    via: null,
    reason: '',
    cost_micros: 0,
    input_tokens: null,
    output_tokens: null,
    cached_input_tokens: null,
    actor: null,
    control: null,
    stale: false,
    floor: false,
    ...more,
  };
}
const ids = (model: WatchModel) => model.rows().map(({ op_id: id }) => id);

test('what is in flight comes first, the newest first; what has ended stays for a while', () => {
  const model = new WatchModel();
  model.reset([op('a'), op('bb'), op('ccc', { state: 'terminated' })], 0);
  expect(ids(model)).toEqual(['bb:s', 'a:s', 'ccc:s']);
  model.change(op('bb', { state: 'completing', updated_at: '2026-11-15T00:00:01.000Z' }), 5000);
  expect(ids(model)).toEqual(['a:s', 'ccc:s', 'bb:s']);
  model.forget(11_000);
  expect(ids(model)).toEqual(['a:s', 'bb:s']);
  model.forget(16_000);
  expect(ids(model)).toEqual(['a:s']);
});

test('a change that is older than what is known changes nothing', () => {
  const model = new WatchModel();
  model.change(op('a', { state: 'paused', updated_at: '2026-11-15T00:00:02.000Z' }), 0);
  model.change(op('a', { state: 'running', updated_at: '2026-11-15T00:00:01.000Z' }), 0);
  expect(model.rows()[0]?.state).toBe('paused');
});

test('operations of the same id of two agents are two', () => {
  const model = new WatchModel();
  model.change(op('a'), 0);
  model.change(op('a', { agent: { org_id: 'acme', team_id: 'core', agent_id: 'twin' } }), 0);
  expect(model.rows()).toHaveLength(2);
});

test('the chosen operation stays chosen while others come before it', () => {
  const model = new WatchModel();
  model.reset([op('a'), op('bb')], 0);
  expect(model.chosen?.op_id).toBe('bb:s');
  model.move(1);
  model.change(op('ccc'), 0);
  expect(model.chosen?.op_id).toBe('a:s');
  model.move(-99);
  expect(model.chosen?.op_id).toBe('ccc:s');
  model.move(99);
  model.ask('terminate');
  model.reset([op('ccc')], 0);
  expect(model.asking).toMatchObject({ action: 'terminate', op: { op_id: 'a:s' } });
  expect(model.chosen?.op_id).toBe('ccc:s');
});

test.each([
  [80, 10, 0],
  [80, 10, 3],
  [40, 6, 50],
  [200, 3, 9],
])('the view of %d columns and %d rows with %d operations fits the screen', (columns, rows, count) => {
  const model = new WatchModel();
  model.reset(
    Array.from({ length: count }, (_, at) => op(`o${at}`, { summary: 'w'.repeat(100) })),
    0,
  );
  model.move(Math.floor(count / 2));
  const lines = renderWatch(model, 'http://127.0.0.1:8080', { columns, rows }, false);
  expect(lines.length).toBeLessThanOrEqual(Math.max(rows, 5));
  expect(lines.filter((line) => line.startsWith('>'))).toHaveLength(count === 0 ? 0 : 1);
  const [head = '', , ...rest] = lines;
  expect(textWidth(head)).toBeLessThanOrEqual(columns);
  expect(textWidth(rest.at(-1) ?? '')).toBeLessThanOrEqual(columns);
});

test('keys are told apart, however they come together', () => {
  expect(keysIn('j\u001b[Ap\u001bOB\u0003y\r\u001b[6~é')).toEqual([
    'j',
    'up',
    'p',
    'down',
    'interrupt',
    'y',
    'enter',
    'page down',
    'é',
  ]);
});

test('what the stream still brings from before the list changes nothing', () => {
  const model = new WatchModel();
  const later = '2026-11-15T00:00:01.000Z';
  model.reset([op('a'), op('b', { state: 'paused', updated_at: later })], 0);
  // A check that decides at once gives both of its changes the same time.
  model.change(op('a', { state: 'pending' }), 0);
  model.change(op('b', { state: 'running' }), 0);
  expect(model.rows().map(({ state }) => state)).toEqual(['running', 'paused']);
  model.change(op('a', { state: 'paused', updated_at: later }), 0);
  expect(model.rows().map(({ state }) => state)).toEqual(['paused', 'paused']);
});
