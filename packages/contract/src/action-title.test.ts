import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { actionTitle } from './action-title.ts';

const exec = (command: string, args: readonly string[], more: object = {}) => ({
  type: 'process_exec',
  command,
  command_args: args,
  ...more,
});

test.each<[string, Readonly<Record<string, unknown>>]>([
  [
    'git push --force origin main (in /srv/shop)',
    exec('git', ['push', '--force', 'origin', 'main'], { working_dir: '/srv/shop' }),
  ],
  [
    String.raw`sh -c 'rm -rf "$HOME"; echo it'\''s' '' (in '/srv/my shop')`,
    exec('sh', ['-c', 'rm -rf "$HOME"; echo it\'s', ''], { working_dir: '/srv/my shop' }),
  ],
  [`echo 'x (in /tmp)'`, exec('echo', ['x (in /tmp)'])],
  [`'A=1' ls`, exec('A=1', ['ls'])],
  [`? 'eval "$x"' (in a folder that is not known)`, exec('?', ['eval "$x"'], { working_dir: '?' })],
  [`rm 'a<U+202E>b<U+000A>c'`, exec('rm', ['a\u202Eb\nc'])],
  [
    'start an agent: node a.js (in /srv)',
    { type: 'agent_spawn', command: 'node', command_args: ['a.js'], working_dir: '/srv' },
  ],
  ['start an agent', { type: 'agent_spawn' }],
  ['delete /srv/data/orders.db', { type: 'file_operation', operation: 'delete', path: '/srv/data/orders.db' }],
  [`write '/srv/a b'`, { type: 'file_operation', operation: 'write', path: '/srv/a b' }],
  ['connect to db.example:5432 (tcp)', { type: 'network_call', host: 'db.example', port: 5432, protocol: 'tcp' }],
  [
    'pay(amount: 20, to: "Ada, amount: 1", "a b": [1]) (of stripe)',
    { type: 'tool_call', tool: 'pay', source: 'stripe', args: { amount: 20, to: 'Ada, amount: 1', 'a b': [1] } },
  ],
  ['list()', { type: 'tool_call', tool: 'list' }],
  ['list("x")', { type: 'tool_call', tool: 'list', args: 'x' }],
  [`'pay(amount: 1) '()`, { type: 'tool_call', tool: 'pay(amount: 1) ', args: {} }],
  ['use the result of search([1])', { type: 'tool_result', tool: 'search', args: [1] }],
  [
    'gpt-5 (1200 prompt tokens, 500 output tokens at most)',
    { type: 'llm_call', model: 'gpt-5', prompt_tokens: 1200, max_output_tokens: 500 },
  ],
  ['gpt-5', { type: 'llm_call', model: 'gpt-5' }],
])('%s', (title, action) => {
  expect(actionTitle(action)).toBe(title);
});

test('a long one is cut, says so, and still has its folder', () => {
  const title = actionTitle(exec('echo', ['🎈'.repeat(300)], { working_dir: '/srv/shop' }));
  expect(Array.from(title)).toHaveLength(200);
  expect(title).toMatch(/🎈… \(cut: \d+ more characters\) \(in \/srv\/shop\)$/u);
});

test('whatever an agent sends, it is one line of at most 200 code points, without hidden characters', () => {
  const any = fc.string({ unit: 'binary', maxLength: 300 });
  const action = fc.record({
    type: fc.constantFrom('process_exec', 'tool_call', 'file_operation', 'llm_call', 'network_call', 'agent_spawn', ''),
    command: any,
    command_args: fc.array(any, { maxLength: 3 }),
    working_dir: any,
    tool: any,
    source: any,
    args: fc.jsonValue(),
    path: any,
    model: any,
    host: any,
  });
  fc.assert(
    fc.property(action, (given) => {
      const title = actionTitle(given);
      expect(Array.from(title).length).toBeLessThanOrEqual(200);
      expect(title).not.toMatch(/[\n\r\t\p{Cc}\u202E]/u);
    }),
  );
});
