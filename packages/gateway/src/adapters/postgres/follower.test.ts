import type { AgentRecord } from '@reeve/core';
import { EndedCredentials, KeyRing, SigningKeyRing } from '@reeve/core';
import type { TestGovernance } from '@reeve/core/testkit';
import { agentId, operator, sha256, suspendAgent, testGovernance } from '@reeve/core/testkit';
import { expect, test } from 'vitest';
import { Follower } from './follower.ts';
import type { Shared, SharedReader } from './shared-rows.ts';

const bot = agentId('acme/search/bot');
const notice = { kind: 'agent', keys: [['acme', 'search', 'bot']] } as const;

/** The rows of a database. Each read can be held up. */
class Rows implements SharedReader {
  row: AgentRecord | undefined;
  reads = 0;
  failure: Error | undefined;
  #held: (() => void)[] | undefined;

  async agents(): Promise<AgentRecord[]> {
    this.reads++;
    const { row, failure } = this;
    await new Promise<void>((resolve) => (this.#held === undefined ? resolve() : this.#held.push(resolve)));
    if (failure !== undefined) throw failure;
    return row === undefined ? [] : [row];
  }

  async apiKeys(): Promise<never[]> {
    return [];
  }

  async signingKeys(): Promise<never[]> {
    return [];
  }

  async newestPolicies(): Promise<never[]> {
    return [];
  }

  async shared() {
    return { agents: await this.agents(), apiKeys: [], signingKeys: [], policies: [] };
  }

  hold(): void {
    this.#held = [];
  }

  release(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const resume of held) resume();
  }
}

async function setUp() {
  const test = await testGovernance();
  await test.register(bot);
  const { gov } = test;
  const access: Shared = {
    gov,
    clock: gov.clock,
    randomness: gov.randomness,
    sha256: gov.sha256,
    journal: gov.journal,
    keys: new KeyRing(test.clock, sha256, []),
    signingKeys: new SigningKeyRing([]),
    mint: {} as never,
    tokenTtlMs: 1000,
    ended: new EndedCredentials(),
  };
  const rows = new Rows();
  rows.row = test.known(bot).record;
  const errors: unknown[] = [];
  const follower = new Follower((error) => errors.push(error));
  return { test, access, rows, follower, errors, record: rows.row };
}

const suspension = { at: 7, reason: 'elsewhere', width: 'unbound' } as const;
const reasonOf = (test: TestGovernance) => test.gov.directory.find(bot)?.record.suspension?.reason;

test('what is noted before the start is read at the start', async () => {
  const { test, access, rows, follower, record } = await setUp();
  rows.row = { ...record, suspension };
  follower.note(notice);
  expect(rows.reads).toBe(0);
  follower.start(rows, access);
  await expect.poll(() => reasonOf(test)).toBe('elsewhere');
});

test('a row that this gateway is changing is left alone until that is durable, and then read', async () => {
  const { test, access, rows, follower, record } = await setUp();
  follower.start(rows, access);
  const suspending = suspendAgent(test.gov, operator, bot, 'here');
  follower.note(notice);
  await expect.poll(() => rows.reads).toBe(1);
  await new Promise(setImmediate);
  expect(reasonOf(test)).toBe('here');
  rows.row = { ...record, suspension: { at: 9, reason: 'here, as it was written', width: 'unbound' } };
  test.turn();
  await suspending;
  await expect.poll(() => reasonOf(test)).toBe('here, as it was written');
});

test('a row that was read before a change here was durable does not undo it, although it comes after', async () => {
  const { test, access, rows, follower, record } = await setUp();
  follower.start(rows, access);
  const suspending = suspendAgent(test.gov, operator, bot, 'here');
  rows.hold();
  follower.note(notice);
  expect(rows.reads).toBe(1);
  test.turn();
  await suspending;
  rows.row = { ...record, suspension: { at: 9, reason: 'here, as it was written', width: 'unbound' } };
  rows.release();
  rows.hold();
  await expect.poll(() => rows.reads).toBe(2);
  expect(reasonOf(test)).toBe('here');
  rows.release();
  await expect.poll(() => reasonOf(test)).toBe('here, as it was written');
});

test('a row that changes here while it is read is read again', async () => {
  const { test, access, rows, follower, record } = await setUp();
  follower.start(rows, access);
  rows.hold();
  follower.note(notice);
  await test.settle(suspendAgent(test.gov, operator, bot, 'here'));
  rows.row = { ...record, suspension: { at: 9, reason: 'here, as it was written', width: 'unbound' } };
  rows.release();
  await expect.poll(() => reasonOf(test)).toBe('here, as it was written');
  expect(rows.reads).toBe(2);
});

test('a change here that fails does not hide what another gateway has made', async () => {
  const { test, access, rows, follower, record } = await setUp();
  follower.start(rows, access);
  rows.row = { ...record, suspension };
  test.failure = new Error('no');
  const suspending = suspendAgent(test.gov, operator, bot, 'here').catch(() => 'failed');
  follower.note(notice);
  await expect.poll(() => rows.reads).toBe(1);
  test.turn();
  expect(await suspending).toBe('failed');
  test.failure = undefined;
  await expect.poll(() => reasonOf(test)).toBe('elsewhere');
});

test('where all is read again, what is gone there goes here', async () => {
  const { test, access, rows, follower } = await setUp();
  follower.start(rows, access);
  rows.row = undefined;
  follower.noteAll();
  await expect.poll(() => test.gov.directory.find(bot)).toBeUndefined();
});

test('a row that cannot be read is tried until it can, and that is told once', async () => {
  const { test, access, rows, follower, errors, record } = await setUp();
  follower.start(rows, access);
  rows.failure = new Error('the database is away');
  rows.row = { ...record, suspension };
  follower.note(notice);
  await expect.poll(() => rows.reads, { timeout: 5000 }).toBeGreaterThan(2);
  rows.failure = undefined;
  await expect.poll(() => reasonOf(test), { timeout: 5000 }).toBe('elsewhere');
  expect(errors).toHaveLength(1);
});
