import { expect, test } from 'vitest';
import { recordedRequest } from './recorded-request.ts';

const agent = { org_id: 'acme', team_id: 'core', agent_id: 'bot' };
const toolCall = { agent, action_type: 'tool_call' };

test('a recorded check is asked again with its arguments, its user and the labels of then', () => {
  const payload = {
    action: { type: 'tool_call', tool: 'mail.send', source: 'mail', args: 'plain text' },
    cost_micros: 200,
    estimated: true,
    run: { labels: ['web'] },
    run_id: 'r',
    user: { issuer: 'https://id.example.com', sub: 'u-1', email: '' },
    user_groups: ['staff'],
  };
  expect(recordedRequest(toolCall, payload)).toEqual({
    body: {
      agent,
      action_type: 'tool_call',
      context: { tool: 'mail.send', source: 'mail', args_json: '"plain text"' },
      estimated_cost_micros: 200,
      run_id: 'r',
      run: { labels: ['web'] },
      user: { issuer: 'https://id.example.com', sub: 'u-1', email: '', groups: ['staff'] },
    },
    gaps: [],
  });
});

test('what the log does not have is told, and not made up', () => {
  const args = { sha256: 'ab', omitted_bytes: 70_000 };
  const found = recordedRequest(toolCall, { action: { type: 'tool_call', tool: 'x', args }, delegators: ['boss'] });
  expect(found?.body).toEqual({ agent, action_type: 'tool_call', context: { tool: 'x' } });
  expect(found?.gaps).toHaveLength(3);
  expect(recordedRequest(toolCall, { action: { type: 'tool_call', tool: '[redacted]' } })?.gaps[0]).toContain(
    'redacted',
  );
  expect(recordedRequest(toolCall, { resource: 'x' })).toBeUndefined();
});

test('the members of other actions go as they are recorded', () => {
  const action = { type: 'process_exec', command: 'git', command_args: ['push'], working_dir: '/w', inexact: false };
  expect(recordedRequest({ agent, action_type: 'process_exec' }, { action })?.body.context).toEqual({
    command: 'git',
    command_args: ['push'],
    working_dir: '/w',
  });
});
