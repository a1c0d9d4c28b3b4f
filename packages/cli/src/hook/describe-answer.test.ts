import { expect, test } from 'vitest';
import type { ActionAnswer } from './describe-answer.ts';
import { heldText } from './describe-answer.ts';

function held(members: Partial<ActionAnswer>): ActionAnswer {
  return {
    planned: { action: { type: 'process_exec', command: 'git', args: ['push'] } },
    span: 'b7ad6b7169203331',
    decision: 'pending',
    reason: 'needs an approval',
    policyRule: '',
    opId: '4bf9:b7ad',
    approvalId: '',
    judgesResult: false,
    args: undefined,
    ...members,
  };
}

test('what waits for an approval says who can give it and how to go on', () => {
  expect(heldText([held({ approvalId: '7f3a' })])).toBe(
    'Waiting for approval: git push: approval 7f3a. Somebody approves it with "reeve approvals approve 7f3a" or on the dashboard. Nothing was done. Once it is approved, do exactly the same again in this session: it is then allowed, once.',
  );
});

test('what an operator has paused does not speak of an approval', () => {
  expect(heldText([held({ reason: 'operation is paused' })])).toBe(
    'Held by an operator: git push: operation is paused (operation 4bf9:b7ad). Nothing was done. Once it is resumed, do exactly the same again in this session.',
  );
});

test('the approval is named although a paused part comes first', () => {
  const text = heldText([held({ reason: 'operation is paused' }), held({ approvalId: '7f3a' })]);
  expect(text).toContain('operation is paused (operation 4bf9:b7ad); git push: approval 7f3a.');
  expect(text).toContain('reeve approvals approve 7f3a');
});
