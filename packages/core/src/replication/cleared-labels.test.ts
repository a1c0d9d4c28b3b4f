import { expect, test } from 'vitest';
import { execute } from '../commands.ts';
import { checkAction } from '../decision/check-action.ts';
import { touchedBy } from '../journal/index.ts';
import { touchOf } from '../facts.ts';
import type { LabelBearer } from '../runs/index.ts';
import { checkOf, operator, useTool } from '../testkit/requests.ts';
import { twoGateways } from '../testkit/two-gateways.ts';

const policy = 'name: p\ndefault: allow\nrules: [{ name: mail, effect: allow, tools: [mail], labels: [mail] }]\n';

test.each([
  { runId: 'r', agentId: '' },
  { runId: '', agentId: 'bot' },
])('a gateway that could not read a clearing of labels clears none: %o', async (named) => {
  const { one, two, settled, register, follow } = await twoGateways(policy);
  const { id, token } = await register('acme/red/bot');
  const action = useTool('mail');
  const op = { agentId: id, token, runId: named.runId, traceId: 'a', spanId: 's', action };
  await settled(checkAction(one.gov, checkOf(op)));
  await follow();
  const bearer: LabelBearer = { of: 'run', place: { orgId: 'acme', teamId: 'red', ...named } };
  expect(two.gov.runs.labels.of(bearer)).toHaveLength(1);

  const cleared = { kind: 'labels_cleared', ...bearer, names: ['mail'] } as const;
  two.gov.directory.outOfService.add(touchedBy(touchOf(cleared)));

  const asked = { orgId: 'acme', teamId: 'red', ...(named.runId === '' ? { agentId: 'bot' } : { runId: 'r' }) };
  const clearing = execute(two.gov, { kind: 'clear_labels', by: operator, ...asked, reason: '' });
  expect(await settled(clearing.then(() => 'cleared', String))).toContain('out of service');
  expect(await settled(checkAction(two.gov, checkOf({ ...op, spanId: 'late' })))).toMatchObject({
    policyRule: 'identity',
  });
});

test('a gateway that could not read which labels a run was given decides for nobody who may act in it', async () => {
  const { one, two, settled, register, follow } = await twoGateways(policy);
  const { id } = await register('acme/red/bot');
  const mate = await register('acme/red/mate');
  await follow();
  const label = { name: 'mail', since: one.clock.now(), opId: 'a:s', policyRule: 'p/mail' };
  const place = { orgId: 'acme', teamId: 'red', runId: 'r', agentId: '' };
  const given = { kind: 'labels_given', of: 'run', place, by: id, labels: [label] } as const;
  two.gov.directory.outOfService.add(touchedBy(touchOf(given)));

  const op = { agentId: mate.id, token: mate.token, runId: 'r', traceId: 'a', spanId: 't', action: useTool('send') };
  expect(await settled(checkAction(two.gov, checkOf(op)))).toMatchObject({ decision: 'deny', policyRule: 'identity' });
});
