import type { Change } from '@reeve/core';
import { expect, test } from 'vitest';
import { changeStatements } from './change-statements.ts';

const op = (opId: string, seq: number): Change => ({
  kind: 'op_saved',
  op: {
    opId,
    agent: { orgId: 'acme', teamId: '', agentId: 'bot' },
    state: 'running',
    registeredAt: 1,
    updatedAt: 1,
    actionType: null,
    resource: '',
    summary: '',
    runId: '',
    delegators: [],
    owedLabels: [],
    via: null,
    reason: '',
    costMicros: 0,
    reservedMicros: 0,
    usage: null,
    policyRule: '',
    digest: '',
    rewrite: null,
    controlId: null,
    floor: false,
    resultDuty: null,
    seq,
  },
});
const gone = (opId: string): Change => ({
  kind: 'op_removed',
  id: { orgId: 'acme', teamId: '', agentId: 'bot' },
  opId,
});
const names = (changes: readonly Change[]) => changeStatements(changes).map((statement) => statement.name);

test('however many rows of a table change, they are one statement, and the last word on each counts', () => {
  const statements = changeStatements([op('a', 1), op('b', 2), gone('c'), op('a', 3), gone('b')]);
  expect(statements.map(({ name }) => name)).toEqual(['remove_ops', 'save_ops']);
  expect(statements[0]?.values.at(-1)).toBe('{"b","c"}');
  expect(statements[1]?.values.slice(3, 5)).toEqual(['{"a"}', '{3}']);
});

test('what concerns all rows comes after what was said of single ones before it, and before what is said after', () => {
  expect(names([op('a', 1), { kind: 'ops_forgotten' }, op('b', 2)])).toEqual([
    'save_ops',
    'clear_ops',
    'save_meta',
    'save_ops',
  ]);
});

test('changes of several agents are one statement for each kind; what is said of one again comes after', () => {
  const of = (agentId: string) => ({ orgId: 'acme', teamId: '', agentId });
  const left = (agentId: string): Change => ({ kind: 'agent_removed', id: of(agentId), isKept: false });
  const resumed = (agentId: string): Change => ({ kind: 'agent_resumed', id: of(agentId), width: 'org' });
  const leaving = ['leave_agents', 'remove_agents'];
  expect(names([resumed('a'), resumed('b'), left('c')])).toEqual([...leaving, 'resume_agents']);
  expect(names([resumed('a'), left('b'), left('a')])).toEqual([...leaving, 'resume_agents', ...leaving]);
});

test('the mark up to which times are given up does not go beyond what was removed, however long the log', () => {
  const removed = (through: number) =>
    changeStatements([{ kind: 'entries_removed', through }]).find(({ name }) => name === 'remove_times')?.values;
  expect(removed(4095)).toEqual([1]);
  expect(removed(4094)).toEqual([0]);
  expect(removed(2 ** 40)).toEqual([2 ** 28]);
});
