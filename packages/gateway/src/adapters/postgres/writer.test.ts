import type { ChainHead, SealedEntry } from '@reeve/core';
import { emptyChain, HeadMoved } from '@reeve/core';
import { sampleDraft, sealAll } from '@reeve/core/testkit';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { NetworkLink } from '../../../../../tests/harness/network-link.ts';
import type { TestDatabase } from '../../../../../tests/harness/postgres.ts';
import { createDatabase } from '../../../../../tests/harness/postgres.ts';
import { parsePostgresUrl } from '../../config/postgres-url.ts';
import { CommitFeed } from './commit-feed.ts';
import { connectFirst, disconnect } from './connection.ts';
import { migratePostgres } from './migrate-postgres.ts';
import { PostgresDatabase } from './postgres-database.ts';
import { Writer } from './writer.ts';

// A gateway that stalls in the middle of a commit is here a writer whose link stalls: nothing that it sends arrives, or
// nothing that it is answered, while the server and the other writer go on.

interface Named {
  readonly writer: Writer;
  readonly feed: CommitFeed;
  readonly name: string;
}

function entry(head: ChainHead, reason: string): SealedEntry {
  const [sealed] = sealAll([sampleDraft({ reason })], head);
  if (sealed === undefined) throw new Error('one entry was sealed');
  return sealed;
}

/** Tries to write an entry after the head. Returns the entry, or what was thrown. */
async function write({ writer, name }: Named, head: ChainHead): Promise<unknown> {
  const sealed = entry(head, name);
  return writer.commit({ entries: [sealed], changes: [] }).then(
    () => sealed,
    (error: unknown) => error,
  );
}

/** Writes an entry, whoever is first, as a journal does. */
async function append(by: Named, from: ChainHead): Promise<ChainHead> {
  const outcome = await write(by, from);
  if (outcome instanceof HeadMoved) return await append(by, outcome.commits.at(-1)?.head ?? from);
  if (outcome instanceof Error) throw outcome;
  return outcome as SealedEntry;
}

describe('one of two gateways freezes', () => {
  let stack: AsyncDisposableStack;
  let database: TestDatabase;
  let link: NetworkLink;
  let awake: Named;
  let frozen: Named;
  /** The newest entry when the freeze begins. The one that will freeze has locked the head. */
  let head: ChainHead;

  beforeEach(async () => {
    stack = new AsyncDisposableStack();
    database = await createDatabase();
    stack.defer(() => database.drop());
    link = await NetworkLink.to({ http: database.url.replace('postgres:', 'http:') });
    stack.use(link);
    const far = new URL(database.url);
    far.port = String(link.port);
    awake = await openWriter('awake', database.url);
    frozen = await openWriter('frozen', far.href);
    head = await append(awake, emptyChain);
    expect(await write(frozen, emptyChain)).toBeInstanceOf(HeadMoved);
  });
  afterEach(async () => {
    link.cut();
    await stack.disposeAsync();
  });

  async function openWriter(name: string, url: string): Promise<Named> {
    const { client, options: connection } = await connectFirst(parsePostgresUrl(url));
    await migratePostgres(client);
    await disconnect(client);
    const sql = new PostgresDatabase(connection);
    stack.defer(() => sql.close());
    const onFatal = (error: Error) => {
      throw error;
    };
    const feed = new CommitFeed(sql, name, onFatal);
    const writer = new Writer({
      connection,
      feed,
      gateway: name,
      isShared: true,
      sync: 'process',
      onFatal,
      readCompactly: () => true,
    });
    stack.defer(() => writer.close());
    return { writer, feed, name };
  }

  /** Who wrote the entries of the log, in order. Every entry belongs to one commit. */
  async function log(): Promise<string[]> {
    const rows = await database.query(
      'SELECT canonical, (SELECT count(*) FROM commits) AS commits FROM audit ORDER BY seq',
    );
    for (const { commits } of rows) expect(Number(commits)).toBe(rows.length);
    return rows.map(({ canonical }) => (JSON.parse(String(canonical)) as { reason: string }).reason);
  }

  /** Whether a connection is in this state, by the word of the server. */
  const isAnybody = (state: string) => async () => {
    const rows = await database.query(
      `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND (${state})`,
    );
    return rows.length > 0;
  };
  const isIdleWithTheHead = isAnybody(`state = 'idle in transaction'`);
  const isWaiting = isAnybody(`wait_event_type = 'Lock'`);

  /** Tells a writer by another way what was committed, as gateways tell each other. */
  async function hear({ feed }: Named): Promise<void> {
    const rows = await database.query(`SELECT * FROM commits ORDER BY version`);
    let before: string | null = null;
    for (const { version, gateway, seq, hash, told } of rows) {
      const texts = { gateway: String(gateway), hash: String(hash), facts: String(told) };
      feed.receive({ version: Number(version), seq: Number(seq), ...texts, before });
      before = texts.gateway;
    }
    feed.ready();
  }

  test('with the head locked, before its batch is sent: the other goes on, and the batch comes too late', async () => {
    link.silence();
    const late = write(frozen, head);
    // This fails if the head is locked for longer than a statement may take.
    const next = await write(awake, head);
    expect(next).toMatchObject({ seq: 2 });
    expect(await write(awake, next as SealedEntry)).toMatchObject({ seq: 3 });
    link.mend();
    expect(await late).toBeInstanceOf(Error);
    expect(await log()).toEqual(['awake', 'awake', 'awake']);
    expect(await append(frozen, head)).toMatchObject({ seq: 4 });
    expect(await log()).toEqual(['awake', 'awake', 'awake', 'frozen']);
  }, 30_000);

  test('while it waits for the lock of the head, which it gets: the other goes on, and nothing of it is written', async () => {
    const mine = await append(frozen, head);
    // After it was late once, it locks the head before it writes.
    link.loseAnswers();
    const late = write(frozen, mine);
    await expect.poll(isIdleWithTheHead).toBe(true);
    const next = await append(awake, head);
    expect(next).toMatchObject({ seq: 3 });
    link.cut();
    link.mend();
    expect(await late).toBeInstanceOf(Error);
    expect(await log()).toEqual(['awake', 'frozen', 'awake']);
    expect(await append(frozen, mine)).toMatchObject({ seq: 4 });
    expect(await log()).toEqual(['awake', 'frozen', 'awake', 'frozen']);
  }, 30_000);

  test('and hears of later commits before it hears that it had the lock: it goes on after them', async () => {
    const mine = await append(frozen, head);
    expect(await write(awake, head)).toBeInstanceOf(HeadMoved);
    const late = write(frozen, mine);
    await expect.poll(isWaiting).toBe(true);
    link.silence();
    const third = await append(awake, mine);
    await expect.poll(isIdleWithTheHead).toBe(true);
    const fourth = await append(awake, third);
    await hear(frozen);
    link.mend();
    expect(await late).toEqual(new HeadMoved([]));
    expect(await append(frozen, fourth)).toMatchObject({ seq: 5 });
    expect(await log()).toEqual(['awake', 'frozen', 'awake', 'awake', 'frozen']);
  }, 30_000);

  test('and its batch never arrives: the other has its number, and that is not taken for its own', async () => {
    link.silence();
    const lost = write(frozen, head);
    link.cut();
    const next = await write(awake, head);
    expect(next).toMatchObject({ seq: 2 });
    link.mend();
    expect(await lost).toMatchObject({ commits: [{ head: { seq: 2 } }] });
    expect(await append(frozen, next as SealedEntry)).toMatchObject({ seq: 3 });
    expect(await log()).toEqual(['awake', 'awake', 'frozen']);
  }, 30_000);

  test('after its batch has arrived: it finds it, though the other has written since, and writes nothing twice', async () => {
    link.loseAnswers();
    const unheard = write(frozen, head);
    await expect.poll(log).toEqual(['awake', 'frozen']);
    expect(await append(awake, head)).toMatchObject({ seq: 3 });
    link.cut();
    link.mend();
    const found = await unheard;
    expect(found).toMatchObject({ seq: 2 });
    // Of what came since, it is told only what is not its own.
    const refused = await write(frozen, found as SealedEntry);
    expect(refused).toMatchObject({ commits: [{ head: { seq: 3 } }] });
    expect(await append(frozen, (refused as HeadMoved).commits[0]?.head ?? emptyChain)).toMatchObject({ seq: 4 });
    expect(await log()).toEqual(['awake', 'frozen', 'awake', 'frozen']);
  }, 30_000);
});
