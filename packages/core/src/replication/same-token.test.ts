import { expect, test } from 'vitest';
import { agentId } from '../testkit/requests.ts';
import { twoGateways } from '../testkit/two-gateways.ts';

test('of two agents that are given one token at two gateways, the first in the log keeps it, and both know whose it is', async () => {
  const { one, two, settle, follow } = await twoGateways('default: allow');
  const token = 'the-same-token-for-two-different-orgs';
  const [late, first] = [agentId('acme/red/late'), agentId('umbrella/red/first')];
  await follow();
  const accepted = two.register(first, { token });
  const refused = expect(one.register(late, { token })).rejects.toMatchObject({ code: 'token_in_use' });
  await settle();
  await Promise.all([accepted, refused]);
  for (const { gov } of [one, two]) {
    expect(gov.directory.find(late)).toBeUndefined();
    expect(gov.directory.ownerOf(gov.sha256(token))?.record.id).toEqual(first);
  }
});
