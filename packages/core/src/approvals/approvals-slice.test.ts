import { expect, test } from 'vitest';
import { canonicalJson } from '../audit/canonical-json.ts';
import { sampleApproval, sampleGrant } from '../testkit/store-approval-conformance.ts';
import { boundedApproval, boundedGrant } from '../approvals/approvals-slice.ts';

const long = 'x'.repeat(9000);

test('what fits is given back as it is', () => {
  expect(boundedApproval(sampleApproval)).toBe(sampleApproval);
  expect(boundedGrant(sampleGrant)).toBe(sampleGrant);
});

test('texts of earlier versions are cut, and an action beyond all bounds is named', () => {
  const action = canonicalJson({ tool: 'x'.repeat(300_000), type: 'tool_call' });
  const bounded = boundedApproval({ ...sampleApproval, resource: long, summary: long, reason: long, action });
  const cut = `${'x'.repeat(8191)}…`;
  expect(bounded).toEqual({
    ...sampleApproval,
    resource: cut,
    summary: cut,
    reason: cut,
    action: `{"omitted_characters":${action.length},"type":"tool_call"}`,
  });
  expect(boundedGrant({ ...sampleGrant, resource: long })).toEqual({ ...sampleGrant, resource: cut });
});
