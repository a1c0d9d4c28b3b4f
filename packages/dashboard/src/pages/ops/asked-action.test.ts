import { describe, expect, test } from 'vitest';
import { askedAction } from './asked-action.ts';
import { tokenWords } from './token-words.ts';

const entry = (action: unknown) => ({ payload: { action } });

describe('what was asked for', () => {
  test('is the newest decision, with server, tool and arguments', () => {
    const action = { type: 'tool_call', source: 'github', tool: 'create_issue', args: { title: 'x' } };
    const asked = askedAction([{ payload: { from: 'a' } }, entry(action), entry({ type: 'tool_call', tool: 'old' })]);
    expect(asked).toEqual({
      delegators: [],
      title: 'create_issue(title: "x") (of github)',
      facts: [
        ['Server', 'github'],
        ['Tool', 'create_issue'],
      ],
      args: { title: 'x' },
    });
  });

  test('says for whom, if that was proven, and who delegated', () => {
    const user = { issuer: 'https://id.example.com', sub: 'u-1', email: 'ann@acme.com' };
    const action = { type: 'tool_call', tool: 'pay' };
    const delegators = ['clerk', 'boss'];
    expect(askedAction([{ payload: { action, user, delegators } }])).toMatchObject({ user, delegators });
    expect(askedAction([{ payload: { action, user: 'ann' } }])).toMatchObject({ user: undefined, delegators: [] });
  });

  test('of a command is the whole line, with its folder', () => {
    const action = { type: 'process_exec', command: 'git', command_args: ['push', 'a b'], working_dir: '/srv/shop' };
    expect(askedAction([entry(action)])).toEqual({
      delegators: [],
      title: "git push 'a b' (in /srv/shop)",
      facts: [],
      args: undefined,
    });
  });

  test('of a command whose line is too long has all arguments beside it', () => {
    const args = ['x'.repeat(300)];
    expect(askedAction([entry({ type: 'process_exec', command: 'git', command_args: args })])?.args).toEqual(args);
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
