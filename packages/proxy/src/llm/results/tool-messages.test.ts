import { describe, expect, test } from 'vitest';
import { anthropicToolMessages } from '../dialect/anthropic-tool-messages.ts';
import { chatToolMessages } from '../dialect/chat-tool-messages.ts';
import { responseToolMessages } from '../dialect/response-tool-messages.ts';
import { parseRequest } from '../json-request.ts';
import { replacedIn } from './replaced-in.ts';
import { requireClearMessages } from './require-clear-messages.ts';
import type { ToolMessage } from './tool-message.ts';

const calls = [
  { id: 'c1', type: 'function', function: { name: 'look_up', arguments: '{"q":"refunds"}' } },
  { id: 'c2', type: 'custom', custom: { name: 'shell', input: 'ls -l' } },
];
const chat = {
  model: 'gpt-5',
  messages: [
    { role: 'user', content: 'hi' },
    { role: 'assistant', content: null, tool_calls: calls },
    { role: 'tool', tool_call_id: 'c1', content: 'five days' },
    { role: 'tool', tool_call_id: 'c2', content: [{ type: 'text', text: 'a.txt' }] },
    { role: 'tool', tool_call_id: 'c9', content: 'from nowhere' },
    { role: 'assistant', function_call: { name: 'old', arguments: 'no json' } },
    { role: 'function', name: 'old', content: 'done' },
  ],
};

function seen(messages: readonly ToolMessage[]) {
  return messages.map(({ call, content, isError }) => [call?.name, call?.args, content, isError]);
}

test('a chat: each tool message answers the call whose id it names', () => {
  expect(seen(chatToolMessages(chat))).toEqual([
    ['look_up', { q: 'refunds' }, 'five days', false],
    ['shell', 'ls -l', [{ type: 'text', text: 'a.txt' }], false],
    [undefined, undefined, 'from nowhere', false],
    ['old', 'no json', 'done', false],
  ]);
});

test('a response: outputs of calls, and calls that hold what they brought back', () => {
  const input = [
    { type: 'message', role: 'user', content: 'hi' },
    { type: 'function_call', call_id: 'c1', name: 'look_up', arguments: '{"q":1}' },
    { type: 'function_call_output', call_id: 'c1', output: 'five' },
    { type: 'local_shell_call', call_id: 'c2', action: { command: ['ls'] } },
    { type: 'local_shell_call_output', id: 'c2', output: 'a.txt', status: 'incomplete' },
    { type: 'mcp_call', id: 'm1', name: 'find', arguments: '{}', output: 'found' },
    { type: 'function_call_output', call_id: 'gone', output: 'x' },
  ];
  expect(seen(responseToolMessages({ input }))).toEqual([
    ['look_up', { q: 1 }, 'five', false],
    ['local_shell', { command: ['ls'] }, 'a.txt', true],
    ['find', {}, 'found', false],
    [undefined, undefined, 'x', false],
  ]);
  expect(responseToolMessages({ input: 'hi' })).toEqual([]);
});

test('messages of blocks: results of tools, and their errors', () => {
  const messages = [
    { role: 'user', content: 'hi' },
    { role: 'assistant', content: [{ type: 'tool_use', id: 't1', name: 'look_up', input: { q: 'x' } }] },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 't1', content: 'five', is_error: true },
        { type: 'tool_result', tool_use_id: 't1' },
        { type: 'text', text: 'and?' },
      ],
    },
  ];
  const found = anthropicToolMessages({ messages });
  expect(seen(found)).toEqual([['look_up', { q: 'x' }, 'five', true]]);
  expect(found[0]?.path).toEqual(['messages', 2, 'content', 0, 'content']);
});

describe('a result in another form is a result', () => {
  test('a response: errors, sources, and items of a type that is not known', () => {
    const input = [
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'hi' }] },
      { role: 'user', content: 'hi' },
      { type: 'reasoning', id: 'r', summary: [{ type: 'summary_text', text: 'hm' }], encrypted_content: 'x' },
      { type: 'mcp_call', id: 'm1', name: 'find', arguments: '{}', output: null, error: 'no' },
      { type: 'mcp_call', id: 'm2', name: 'find', arguments: '{}', output: 'yes', error: 'no' },
      { type: 'web_search_call', id: 'w', status: 'completed', action: { type: 'search', sources: [{ url: 'u' }] } },
      { type: 'tool_search_call', id: 's', call_id: null, execution: 'server', arguments: {} },
      { type: 'tool_search_output', id: 'o', call_id: null, execution: 'server', tools: [{ name: 't' }] },
      { call_id: 'c1', output: 'untyped' },
      { type: 'Function_Call_Output', call_id: 'c1', output: 'capitals' },
      { type: 'never_heard_of', text: 'new' },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: 'a block' }] },
      { type: 'item_reference', id: 'i' },
    ];
    const found = responseToolMessages({ input });
    const action = { type: 'search', sources: [{ url: 'u' }] };
    expect(seen(found).map(([name, args, content]) => [name, args, content])).toEqual([
      ['find', {}, 'no'],
      ['find', {}, 'yes'],
      ['find', {}, 'no'],
      ['web_search', action, [{ url: 'u' }]],
      ['tool_search', {}, [{ name: 't' }]],
      [undefined, undefined, 'untyped'],
      [undefined, undefined, 'capitals'],
      [undefined, undefined, 'new'],
      [undefined, undefined, 'a block'],
    ]);
    expect(found[3]?.path).toEqual(['input', 5, 'action', 'sources']);
  });

  test('a chat: roles in capitals, blocks of results, and ids of calls', () => {
    const messages = [
      { role: 'assistant', tool_calls: calls },
      { role: 'Tool', tool_call_id: 'c1', content: 'capitals' },
      { role: 'user', tool_call_id: 'c1', content: 'of a user' },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: 'a block' }] },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'hi' },
          { type: 'odd', call_id: 'c1', text: 'odd' },
        ],
      },
    ];
    const found = chatToolMessages({ messages });
    expect(found.map(({ call, content }) => [call?.name, content])).toEqual([
      ['look_up', 'capitals'],
      ['look_up', 'of a user'],
      ['look_up', 'a block'],
      ['look_up', 'odd'],
    ]);
    expect(found[3]?.path).toEqual(['messages', 4, 'content', 1, 'text']);
  });
});

test('another content takes the place of the first one, and every other byte stays', () => {
  const body = `{ "model": "gpt-5", "n": 1.0,\n "messages" : [ {"role":"user","content":"a \\"]}, b"} ,\t{"content" : "five" ,"role":"tool", "tool_call_id":"c\\u0031"}, {"role":"tool","content":["x"]} ] }`;
  const request = parseRequest(Buffer.from(body));
  const replacements = [
    { path: ['messages', 2, 'content'], content: 'y' },
    { path: ['messages', 1, 'content'], content: 'Denied "by" policy' },
  ];
  expect(replacedIn(request, replacements).toString()).toBe(
    body.replace('"five"', String.raw`"Denied \"by\" policy"`).replace('["x"]', '"y"'),
  );
});

test('each list of the body is read once, however many of its items are replaced', () => {
  const block = { type: 'tool_result', tool_use_id: 't', content: 'x'.repeat(500) };
  const content = Array.from({ length: 4000 }, () => block);
  const request = parseRequest(Buffer.from(JSON.stringify({ model: 'm', messages: [{ role: 'user', content }] })));
  const found = anthropicToolMessages(request.value);
  const replaced = replacedIn(
    request,
    found.map(({ path }) => ({ path, content: 'y' })),
  );
  const messages = [{ role: 'user', content: content.map((each) => ({ ...each, content: 'y' })) }];
  expect(JSON.parse(replaced.toString())).toEqual({ model: 'm', messages });
});

describe('a message that readers may understand differently is refused', () => {
  const refused = (messages: string) => () =>
    requireClearMessages(parseRequest(Buffer.from(`{"model":"m","messages":${messages}}`)));

  test.each([
    ['a content twice', '[{"role":"tool","content":"a","content":"b"}]'],
    ['a role in capitals', '[{"Role":"tool","content":"a"}]'],
    ['a block with two types', '[{"role":"user","content":[{"type":"text","type":"tool_result","text":"a"}]}]'],
    [
      'an output with two texts, deep inside',
      `[{"role":"tool","content":${'['.repeat(9)}{"a":1,"a":2}${']'.repeat(9)}}]`,
    ],
    ['two sources of a block', '[{"role":"user","content":[{"type":"x","source":{"data":"a","d\\u0061ta":"b"}}]}]'],
    ['a call with two names', '[{"role":"assistant","tool_calls":[{"id":"1","function":{"name":"a","name":"b"}}]}]'],
  ])('%s', (_what, messages) => {
    expect(refused(messages)).toThrow(/a message has the member/);
  });

  test('the arguments of a tool are its own', () => {
    const messages = '[{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"a","input":{"Content":1}}]}]';
    expect(refused(messages)).not.toThrow();
  });
});
