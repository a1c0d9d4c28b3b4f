import { expect, test } from 'vitest';
import { checkAction } from '../decision/check-action.ts';
import { ownWork } from '../journal/index.ts';
import { OpsCheckpoint } from '../ops/index.ts';
import { checkOf, useTool } from '../testkit/requests.ts';
import { twoGateways } from '../testkit/two-gateways.ts';
import { followCommit } from './follow-commit.ts';

test('a gateway that could not read how an operation is controlled writes over no row of it', async () => {
  const { one, two, settled, register, follow, clock } = await twoGateways('name: p\ndefault: allow\n');
  const { id, token } = await register('acme/red/bot');
  await settled(checkAction(one.gov, checkOf({ agentId: id, token, traceId: 'a', spanId: 's', action: useTool('x') })));
  await follow();
  const touched = { agents: ['acme/red/bot'], orgs: [], everything: false };
  const { head } = two.gov.journal;
  followCommit(two.gov, { head, steps: [], touched, unread: [{ touched, why: 'it is of a later release' }] });
  clock.advance(10);

  const save = ({ gov }: typeof one) => gov.journal.turn(ownWork, () => new OpsCheckpoint(gov, 1, 1, 0).step(50));
  const isSaved = ({ gov }: typeof one) => gov.ops.withId('a:s').map(({ savedSeq }) => savedSeq > 0);
  await settled(save(two));
  expect(isSaved(two)).toEqual([false]);
  await settled(save(one));
  expect(isSaved(one)).toEqual([true]);
});
