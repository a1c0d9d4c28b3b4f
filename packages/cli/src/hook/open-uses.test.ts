import { expect, test } from 'vitest';
import type { BeforeTool } from './hook-event.ts';
import { beginUse, endedUse, settleUse } from './open-uses.ts';
import { spansOf, traceOf } from './operation-ids.ts';
import type { OpenUse } from './session-file.ts';

const ls = { action: { type: 'process_exec', command: 'ls' } } as const;
const rm = { action: { type: 'process_exec', command: 'rm' } } as const;

function before(toolUse: string | undefined, more: Partial<BeforeTool> = {}): BeforeTool {
  const common = { kind: 'before', session: 's', agent: '', isRepeated: false, unreplaceable: undefined } as const;
  return { ...common, toolUse, actions: [ls, rm], ...more };
}

const begin = (uses: readonly OpenUse[], event: BeforeTool, alive = true) => beginUse(uses, event, () => alive);

test('each action has its own id, and further ones a number', () => {
  const { uses, result } = begin([], before('a'));
  expect(result).toMatchObject({ key: 'a', spans: ['a', 'a-2'], state: 'asking', wasHeld: false });
  expect(uses).toEqual([result]);
});

test('a held one is taken over by an equal one, with new ids where an operation is over', () => {
  const { result: first } = begin([], before('a'));
  const held: OpenUse = { ...first, state: 'held', spans: [null, 'a-2'] };
  const { uses, result } = begin([held], before('b'));
  expect(result).toMatchObject({ key: 'b', spans: ['b', 'a-2'], wasHeld: true });
  expect(uses).toHaveLength(1);
  expect(begin([held], before('b', { actions: [rm, ls] })).result.spans).toEqual(['b', 'b-2']);
});

test('one whose answer got lost is taken over too, but nobody has approved it', () => {
  const { result: first } = begin([], before('a'));
  const { result } = begin([{ ...first, state: 'failed' }], before('b'));
  expect(result).toMatchObject({ key: 'b', spans: ['a', 'a-2'], wasHeld: false });
});

test('one that another process asks about is not, unless that process has ended', () => {
  const { uses } = begin([], before('a'));
  expect(begin(uses, before('b')).result.spans).toEqual(['b', 'b-2']);
  expect(begin(uses, before('b'), false).result.spans).toEqual(['a', 'a-2']);
});

test('a more precise event of the same tool use is the same use', () => {
  const { result } = begin([], before('a'));
  const running: OpenUse = { ...result, state: 'running' };
  const precise = begin([running], before(undefined, { isRepeated: true })).result;
  expect(precise).toMatchObject({ key: 'a', spans: ['a', 'a-2'], isAnnounced: false });
  const next = begin([{ ...precise, state: 'running' }], before(undefined, { isRepeated: true })).result;
  expect(next.key).not.toBe('a');
});

test('a host without ids gets unique ones, and the oldest equal use ends first', () => {
  const first = begin([], before(undefined)).result;
  const one: OpenUse = { ...first, state: 'running' };
  const second = begin([one], before(undefined)).result;
  expect(second.key).not.toBe(first.key);
  const uses = settleUse([one], second, { ...second, state: 'running' });
  const over = { kind: 'after', session: 's', outcome: 'succeeded', result: undefined } as const;
  const after = { ...over, toolUse: undefined, actions: [ls, rm] };
  expect(endedUse(uses, after)?.key).toBe(first.key);
  expect(endedUse(uses, { ...after, toolUse: second.key })?.key).toBe(second.key);
  expect(endedUse(uses, { ...after, actions: [rm] })).toBeUndefined();
});

test('ids have the characters and the length that the gateway permits', () => {
  for (const text of ['a/b c', 'ü'.repeat(300), 'x'.repeat(129)]) {
    for (const id of [traceOf(text), ...spansOf(text, 200)]) expect(id).toMatch(/^[A-Za-z0-9_-]{1,128}$/);
  }
  expect(traceOf('x'.repeat(129))).not.toBe(traceOf(`${'x'.repeat(128)}y`));
});
