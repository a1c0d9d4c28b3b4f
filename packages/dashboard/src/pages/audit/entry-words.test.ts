import { describe, expect, test } from 'vitest';
import { exportName, whatOf, whoBeside } from './entry-words.ts';

describe('what an entry is about', () => {
  test.each([
    ['git push --force', { action: { type: 'process_exec', command: 'git', command_args: ['push', '--force'] } }],
    [
      "git commit -m 'a b' (in /srv)",
      { action: { type: 'process_exec', command: 'git', command_args: ['commit', '-m', 'a b'], working_dir: '/srv' } },
    ],
    ['payments.send', { action: { type: 'tool_call', tool: 'payments.send' }, resource: 'payments.send' }],
    ['big-model', { action: { type: 'llm_call', model: 'big-model' } }],
    ['/etc/passwd', { action: { type: 'file_operation', path: '/etc/passwd' } }],
    ['deploy key', { key_id: 'k', label: 'deploy key' }],
    ['pause', { action: 'pause' }],
    ['Finished', { from: 'running', to: 'completing', trigger: 'complete' }],
    ['Ended', { from: 'running', to: 'terminated' }],
    ['elsewhere', { to: 'elsewhere' }],
    ['', { action: null, label: 7 }],
    ['', {}],
  ])('is %j', (what, payload) => expect(whatOf({ payload })).toBe(what));
});

test('only somebody else than the agent is named beside it', () => {
  expect(whoBeside({ actor: { kind: 'agent', id: 'a/b/c', label: 'c' } })).toBeUndefined();
  expect(whoBeside({ actor: { kind: 'account', id: 'acc_1', label: 'Bo' } })).toBe('Bo');
  expect(whoBeside({ actor: { kind: 'system', id: 'gateway', label: '' } })).toBe('gateway');
});

test('the name of an export says its filter, and nothing that a path could mean', () => {
  const today = new Date('2026-03-04T10:00:00Z');
  expect(exportName({}, 'csv', today)).toBe('reeve-audit-2026-03-04.csv');
  expect(exportName({ decision: 'deny', org_id: 'acme', q: '../etc/a b' }, 'jsonl', today)).toBe(
    'reeve-audit-2026-03-04_decision-deny_org-acme_q-..-etc-a-b.jsonl',
  );
  expect(exportName({ q: 'x'.repeat(500), op_id: 'y'.repeat(500) }, 'csv', today).length).toBeLessThan(210);
});
