import { describe, expect, test } from 'vitest';
import { askedAction } from './asked-action.ts';
import { tokenWords } from './token-words.ts';

const entry = (action: unknown) => ({ payload: { action } });

describe('what was asked for', () => {
  test('is the newest decision, with server, tool and arguments', () => {
    const action = { type: 'tool_call', source: 'github', tool: 'create_issue', args: { title: 'x' } };
    const asked = askedAction([{ payload: { from: 'a' } }, entry(action), entry({ type: 'tool_call', tool: 'old' })]);
    expect(asked).toEqual({
      facts: [
        ['Server', 'github'],
        ['Tool', 'create_issue'],
      ],
      args: { title: 'x' },
    });
  });

  test('of a command is the whole line', () => {
    const action = { type: 'process_exec', command: 'git', command_args: ['push', 'origin'] };
    expect(askedAction([entry(action)])?.facts).toEqual([['Command', 'git push origin']]);
  });

  test('is unknown without a decision', () => {
    expect(askedAction([])).toBeUndefined();
    expect(askedAction([entry('x'), entry(null), { payload: {} }])).toBeUndefined();
  });
});

test.each([
  [{ input_tokens: null, output_tokens: null, cached_input_tokens: null }, undefined],
  [{ input_tokens: 1200, output_tokens: 40, cached_input_tokens: 300 }, '1,200 in (300 cached), 40 out'],
  [{ input_tokens: 7, output_tokens: null, cached_input_tokens: null }, '7 in'],
])('%o are "%s"', (tokens, words) => {
  expect(tokenWords(tokens)).toBe(words);
});
