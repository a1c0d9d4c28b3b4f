import { describe, expect, test } from 'vitest';
import type { Action } from '../action/action.ts';
import { action } from '../action/action.ts';
import { coverOf, coverWords } from './grant.ts';

const call = { host: 'db.example', port: 5432, protocol: 'tcp' };

describe('what a grant covers is told', () => {
  test.each<[string, Action]>([
    ['fetch', action('tool_call', { tool: 'fetch' })],
    ['fetch of web', action('tool_call', { tool: 'fetch', source: 'web' })],
    ['fetch at a.example', action('tool_call', { tool: 'fetch', url: 'https://A.example/x?y' })],
    [
      'fetch of web at a.example',
      action('tool_result', { tool: 'fetch', source: 'web', url: 'https://a.example', json: '{}' }),
    ],
    ['fetch at not a url', action('tool_call', { tool: 'fetch', url: 'not a url' })],
    ['read /srv/a', action('file_operation', { operation: 'read', path: '/srv/a' })],
    ['/srv/a', action('file_operation', { path: '/srv/a' })],
    ['tcp db.example:5432', action('network_call', call)],
    ['tcp db.example', action('network_call', { ...call, port: 0 })],
    ['db.example:5432', action('network_call', { ...call, protocol: '' })],
    ['git push --force', action('process_exec', { command: 'git', commandArgs: ['push', '--force'] })],
    [
      'git push (in /srv/shop)',
      action('process_exec', { command: 'git', commandArgs: ['push'], workingDir: '/srv/shop' }),
    ],
    ['node a.js', action('agent_spawn', { command: 'node', commandArgs: ['a.js'] })],
    ['gpt-5', action('llm_call', { model: 'gpt-5', promptTokens: 9 })],
  ])('as %j', (words, what) => {
    expect(coverWords(what)).toBe(words);
  });

  test('without secrets', () => {
    const secret = 'hunter2hunter2';
    const command = action('process_exec', { command: 'mysql', commandArgs: [`--password=${secret}`] });
    const path = action('file_operation', { operation: 'read', path: `/x?password=${secret}` });
    for (const what of [command, path]) {
      expect(coverOf(what)).toContain(secret);
      expect(coverWords(what)).not.toContain(secret);
    }
  });
});

test('a grant covers a command in its folder only; one without a folder stays what it was', () => {
  const push = { command: 'git', commandArgs: ['push'] };
  const bare = coverOf(action('process_exec', push));
  const inShop = coverOf(action('process_exec', { ...push, workingDir: '/srv/shop' }));
  expect(bare).toBe('["process_exec","","","","","","",0,"","git",["push"],""]');
  expect(new Set([bare, inShop, coverOf(action('process_exec', { ...push, workingDir: '/srv/other' }))]).size).toBe(3);
});

test('what a grant is compared by stays the same text, as its digest is stored', () => {
  expect(coverOf(action('network_call', call))).toBe(
    '["network_call","","","","","","db.example",5432,"tcp","",[],""]',
  );
  expect(coverOf(action('tool_call', { tool: 'fetch', source: 'web', url: 'https://A.example/x', json: '{}' }))).toBe(
    '["tool_call","fetch","web","","","","",0,"","",[],"a.example"]',
  );
});
