import { expect, test } from 'vitest';
import type { Principal } from '../access/index.ts';
import { touchOf } from '../facts.ts';
import { touchedBy } from '../journal/index.ts';
import { deletePolicy, putPolicy, rollbackPolicy } from '../policy/index.ts';
import { operator } from '../testkit/requests.ts';
import { twoGateways } from '../testkit/two-gateways.ts';

const source = 'rules: []\n';
const acme: Principal = { ...operator, orgId: 'acme' };

test.each([
  ['rules', operator, source],
  ['acme/rules', acme, `scope: org:acme\n${source}`],
])('a gateway that could not read a version of %s writes over none', async (name, by, text) => {
  const { one, two, settled, follow } = await twoGateways('name: p\ndefault: allow\n');
  const put = () => putPolicy(two.gov, by, { name, source: text, note: 'late' });
  await settled(putPolicy(one.gov, by, { name, source: text, note: '' }));
  await follow();
  const saved = two.gov.policyRegistry.newest(name);
  if (saved === undefined) throw new Error('there is no such document');

  two.gov.directory.outOfService.add(touchedBy(touchOf({ kind: 'policy_saved', saved: { ...saved, version: 2 } })));

  const said = (work: Promise<unknown>) => settled(work.then(() => 'done', String));
  expect(await said(put())).toContain('could not read');
  expect(await said(deletePolicy(two.gov, by, name))).toContain('could not read');
  const back = { name, version: 1, note: '' };
  expect(await said(rollbackPolicy(two.gov, by, back))).toContain('could not read');
  await follow();
  expect(one.gov.policyRegistry.newest(name)?.version).toBe(1);
});

test('what it could not read of one tenant keeps nobody else from changing policy', async () => {
  const { two, settled, register, follow } = await twoGateways('name: p\ndefault: allow\n');
  const { id } = await register('acme/red/bot');
  await follow();
  two.gov.directory.outOfService.add({
    agents: [`${id.orgId}/${id.teamId}/${id.agentId}`],
    orgs: ['umbrella'],
    everything: false,
  });
  await settled(putPolicy(two.gov, operator, { name: 'rules', source, note: '' }));
  await settled(putPolicy(two.gov, acme, { name: 'acme/rules', source: `scope: org:acme\n${source}`, note: '' }));
  expect(two.gov.policyRegistry.newest('acme/rules')?.version).toBe(1);
});
