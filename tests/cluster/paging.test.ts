import { expect, test } from 'vitest';
import { bootstrapKey } from '../harness/gateway.ts';
import { startPair } from './pair.ts';

interface Page {
  readonly items: readonly { readonly op_id: string; readonly agent_id: string }[];
  readonly next_cursor: string | null;
}

test.each([
  ['/api/v1/ops', 'op_id'],
  ['/api/v1/agents', 'agent_id'],
] as const)('pages of %s from alternating gateways hold everything once', async (path, id) => {
  await using pair = await startPair();
  const { one, two } = pair;
  const gateways = [one, two] as const;
  // All at once, so that the gateways come to know them in different order.
  await Promise.all(
    Array.from({ length: 30 }, async (_, nth) => {
      const agent = await gateways[nth % 2 === 0 ? 0 : 1].register({ agentId: `agent-${nth}` });
      await gateways[nth % 3 === 0 ? 0 : 1].check(agent, { traceId: 't', spanId: `${nth}` });
    }),
  );
  const found: string[] = [];
  for (let cursor: string | null = '', nth = 0; cursor !== null; nth++) {
    const gateway = gateways[nth % 2 === 0 ? 0 : 1];
    const query: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const { body } = await gateway.api.get<Page>(`${path}?per_page=4${query}`, bootstrapKey);
    found.push(...body.items.map((item) => item[id]));
    cursor = body.next_cursor;
  }
  expect(found.toSorted()).toEqual([...new Set(found)].toSorted());
  expect(found).toHaveLength(30);
});
