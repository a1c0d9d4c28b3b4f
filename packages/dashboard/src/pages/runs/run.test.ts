import { expect, test } from 'vitest';
import { clearings } from './clearings.ts';
import type { RunDetails, Step } from './run.ts';
import { keyOfRun, labelsOfStep, nameOfRun, placeOfOp, requestOfRun } from './run.ts';
import { parseRunSearch, placeIn, searchOf } from './run-search.ts';
import { filterOf, parseRunsSearch } from './runs-search.ts';
import { stringifySearch, parseSearch } from '../../shell/search.ts';

const bot = { org_id: 'acme', team_id: '', agent_id: 'bot' };
const since = '2026-11-18T02:00:00.000Z';
const label = (name: string, op_id: string) => ({ name, op_id, since, policy_rule: 'p/r' });

const details = (changed: Partial<RunDetails>): RunDetails => ({
  ...placeOfOp(bot, 'r'),
  state: 'active',
  labels: [],
  agents: ['bot'],
  checks: 1,
  denied: 0,
  cost_usd: '0.00',
  started_at: since,
  last_at: since,
  agent_labels: [],
  ...changed,
});

const step = (op_id: string, agent = bot): Step => ({
  op_id,
  agent,
  action_type: 'tool_call',
  resource: 'x',
  decision: 'allow',
  reason: '',
  policy_rule: 'p/r',
  cost_micros: 0,
  at: since,
  state: null,
});

test.each([
  ['of an id with every kind of character', placeOfOp(bot, 'run 1/ü?&=#')],
  ['of an agent that sends none', placeOfOp(bot, '')],
  ['without org and team', placeOfOp({ org_id: '', team_id: '', agent_id: 'bot' }, 'r')],
])('the address of a run %s leads back to it', (_, place) => {
  expect(placeIn(parseRunSearch(parseSearch(stringifySearch({ ...searchOf(place) }))))).toEqual(place);
});

test('an address without a run names none, and a step is a number from 1', () => {
  expect(placeIn(parseRunSearch({ org_id: 'acme' }))).toBeUndefined();
  expect(parseRunSearch({ step: '0' }).step).toBeUndefined();
  expect(parseRunSearch({ step: '12' }).step).toBe('12');
});

test('the run of an agent that sends no ids is asked for by its agent', () => {
  const own = placeOfOp(bot, '');
  expect(requestOfRun(own)).toEqual({
    params: { run_id: '-' },
    query: { org_id: 'acme', team_id: '', agent_id: 'bot' },
  });
  expect(requestOfRun(placeOfOp(bot, 'r'))).toEqual({
    params: { run_id: 'r' },
    query: { org_id: 'acme', team_id: '' },
  });
  expect(nameOfRun(own)).toBe('bot, without a run id');
  expect(keyOfRun(own)).not.toBe(keyOfRun(placeOfOp(bot, 'bot')));
});

test('filters of the address become those of the gateway, for which “-” is none', () => {
  const search = parseRunsSearch({ label: 'web', team_id: '-', state: 'gone', x: '1' });
  expect(filterOf(search)).toEqual({ label: 'web', team_id: '' });
});

test('a label belongs to the step that gave it, and those of agents to the steps of these agents', () => {
  const run = details({ labels: [label('web', 'a')], agent_labels: [{ ...label('secret', 'a'), agent_id: 'bot' }] });
  const names = (one: Step) => labelsOfStep(run, one).map(({ name }) => name);
  expect(names(step('a'))).toEqual(['web', 'secret']);
  expect(names(step('b'))).toEqual([]);
  expect(names(step('a', { ...bot, agent_id: 'other' }))).toEqual(['web']);
});

test('the labels of a run and of each agent are cleared by themselves', () => {
  const agent_labels = [{ ...label('secret', 'a'), agent_id: 'bot' }];
  const whose = (run: RunDetails) => clearings(run).map((each) => [each.name, each.whose, each.labels]);
  const place = { org_id: 'acme', team_id: '' };
  expect(whose(details({ labels: [label('web', 'a')], agent_labels }))).toEqual([
    ['run r', { ...place, run_id: 'r' }, ['web']],
    ['agent bot', { ...place, agent_id: 'bot' }, ['secret']],
  ]);
  expect(whose(details({}))).toEqual([]);
});

test('the own run of an agent is cleared with the agent, since the gateway clears both', () => {
  const run = details({ ...placeOfOp(bot, ''), labels: [label('web', 'a')] });
  expect(clearings({ ...run, agent_labels: [{ ...label('secret', 'a'), agent_id: 'bot' }] })).toEqual([
    { name: 'agent bot', whose: { org_id: 'acme', team_id: '', agent_id: 'bot' }, labels: ['web', 'secret'] },
  ]);
});
