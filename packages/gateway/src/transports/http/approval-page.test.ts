import { expect, test } from 'vitest';
import { confirmationPage } from './approval-page.ts';
import type { ApprovalJson } from './present-approval.ts';

const approval: ApprovalJson = {
  id: 'apr_1',
  state: 'open',
  op_id: 't:s',
  agent: { org_id: 'acme', team_id: '', agent_id: 'bot' },
  title: 'rm \u202etxt.seton',
  action_type: 'process_exec',
  resource: 'rm',
  summary: '</td></table><form action="https://evil.example"><button>Approve',
  run_id: '',
  user: null,
  action: { command: 'rm \u2066-rf\u2069\u200b /' },
  digest: '',
  policy_rule: 'p/<i>',
  rules: [],
  grantable: false,
  approvers: { by: [], not_user: false, words: '' },
  self_approved: false,
  policy_version: '1',
  reason: 'a\u0000b',
  cost_micros: 0,
  cost_usd: '0.00',
  requested_at: '2026-01-01T00:00:00.000Z',
  expires_at: '2026-01-01T00:10:00.000Z',
  required: 1,
  verdicts: [],
  decided_at: null,
  grant_id: null,
};

test('texts of an agent make no markup, hide nothing and turn nothing round', () => {
  const page = confirmationPage({ approval, verdict: 'approve', approver: 'ada@example.com' });
  expect(page.match(/<form|<button/g)).toEqual(['<form', '<button']);
  expect(page).toContain('p/&lt;i&gt;');
  expect(page).toContain('rm &lt;U+202E&gt;txt.seton');
  expect(page).toContain('rm &lt;U+2066&gt;-rf&lt;U+2069&gt;&lt;U+200B&gt; /');
  expect(page.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
});
