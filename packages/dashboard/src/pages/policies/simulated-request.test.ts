import { expect, test } from 'vitest';
import type { RequestForm } from './simulated-request.ts';
import { faultsOf, requestOf } from './simulated-request.ts';

const form: RequestForm = {
  agent: 'acme/core/bot',
  type: 'tool_call',
  resource: 'pay',
  args: '',
  cost: '',
  user: '',
  result: '',
};

test('makes a request of what was filled in', () => {
  expect(requestOf({ ...form, args: '{"amount": 1}', cost: '0.25' })).toEqual({
    agent: { org_id: 'acme', team_id: 'core', agent_id: 'bot' },
    action_type: 'tool_call',
    context: { tool_name: 'pay', args_json: '{"amount": 1}' },
    estimated_cost_micros: 250_000,
  });
});

test('takes an email, or all that a token says, for the user', () => {
  expect(requestOf({ ...form, user: 'ann@acme.com' }).user).toEqual({ email: 'ann@acme.com' });
  expect(requestOf({ ...form, user: ' {"sub": "u-1"}' }).user).toEqual({ sub: 'u-1' });
  expect(requestOf(form)).not.toHaveProperty('user');
});

test('sends what the call brings back as it was written', () => {
  expect(requestOf({ ...form, result: ' {"a": 1}' }).result).toBe(' {"a": 1}');
  expect(requestOf(form)).not.toHaveProperty('result');
});

test('takes “-” for an org or team that is not there', () => {
  expect(requestOf({ ...form, agent: '-/-/bot' }).agent).toEqual({ org_id: '', team_id: '', agent_id: 'bot' });
});

test('splits a command from its arguments', () => {
  expect(requestOf({ ...form, type: 'process_exec', resource: 'rm -rf /' }).context).toEqual({
    command: 'rm',
    args: ['-rf', '/'],
  });
});

test.each([
  [{ agent: 'bot' }, ['agent']],
  [{ agent: 'acme/core/' }, ['agent']],
  [{ args: '{not json' }, ['args']],
  [{ cost: '-1' }, ['cost']],
  [{ cost: '1.1234567' }, ['cost']],
  [{ user: '{not json' }, ['user']],
  [{ args: '[]', cost: '12' }, []],
])('says what is wrong with %j', (more, fields) => {
  expect(Object.keys(faultsOf({ ...form, ...more }))).toEqual(fields);
});
