import { describe, expect, test } from 'vitest';
import { agentId } from '../../../../core/src/testkit/requests.ts';
import type { TestGovernance } from '../../../../core/src/testkit/test-governance.ts';
import { testGovernance } from '../../../../core/src/testkit/test-governance.ts';
import type { TestDatabase } from '../../../../../tests/harness/postgres.ts';
import { createDatabase } from '../../../../../tests/harness/postgres.ts';
import { parsePostgresUrl } from '../../config/postgres-url.ts';
import { markRestoredDatabase } from './mark-restored-database.ts';
import { openPostgres } from './open-postgres.ts';

const policy = 'rules:\n  - { name: fine, effect: allow, tools: [search] }\n';
const bot = agentId('acme/search/bot');

async function emptyDatabase() {
  const database = await createDatabase();
  return { ...database, query: database.query.bind(database), [Symbol.asyncDispose]: () => database.drop() };
}

async function open({ url }: Pick<TestDatabase, 'url'>) {
  const stack = new AsyncDisposableStack();
  const events = { onCommitted: () => undefined, onRegained: () => undefined, onFatal: () => undefined };
  const settings = { sync: 'process', version: '1', isShared: false, lostAfterMs: 10_000 } as const;
  const opened = await openPostgres({ url: parsePostgresUrl(url), ...settings, ...events }, stack);
  return { ...opened, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

function picture({ gov, opsOf }: TestGovernance): unknown {
  const ops = [...opsOf(bot).values()].map(({ opId, state, reservedMicros }) => `${opId} ${state} ${reservedMicros}`);
  return [gov.ledger.balances.total?.spent.day, ops.toSorted()];
}

/** Leaves operations and bookings that no row has. */
async function leave(database: Pick<TestDatabase, 'url'>): Promise<unknown> {
  await using db = await open(database);
  const governed = await testGovernance({ store: db.store });
  await governed.policies(policy);
  const agent = await governed.register(bot);
  for (const traceId of ['t1', 't2']) await governed.check(agent, { traceId, spanId: 's', estimatedCostMicros: 500 });
  await governed.complete(agent, 't2:s', { actualCostMicros: 700 });
  return picture(governed);
}

async function restarted(database: Pick<TestDatabase, 'url'>): Promise<unknown> {
  await using db = await open(database);
  return picture(await testGovernance({ store: db.store }));
}

describe('what rows lack', () => {
  test('is restored from the facts of commits', async () => {
    await using database = await emptyDatabase();
    const before = await leave(database);
    // Nothing else says how the operation ended.
    await database.query(`UPDATE audit SET canonical = replace(canonical, '"trigger":"complete"', '"trigger":"none"')`);
    expect(await restarted(database)).toEqual(before);
  });

  test('is there after the database was restored', async () => {
    await using database = await emptyDatabase();
    const before = await leave(database);
    {
      await using db = await open(database);
      await markRestoredDatabase(db.database, db.membership, Date.now());
    }
    await database.query(`UPDATE audit SET canonical = replace(canonical, '"trigger":"complete"', '"trigger":"none"')`);
    expect(await restarted(database)).toEqual(before);
  });

  test.each([
    ['a release that noted none', 'DELETE FROM commits'],
    ['a release that forgets them early', 'DELETE FROM commits WHERE version < (SELECT max(version) - 1 FROM commits)'],
    [
      'a release that noted none in between',
      'DELETE FROM commits WHERE version = (SELECT max(version) - 1 FROM commits)',
    ],
  ])('is restored from entries where commits are missing after %s', async (_, sql) => {
    await using database = await emptyDatabase();
    const before = await leave(database);
    await database.query(sql);
    expect(await restarted(database)).toEqual(before);
  });
});
