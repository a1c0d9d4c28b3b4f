import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { ReeveError } from '@reeve/core';
import { describe, expect, onTestFinished, test } from 'vitest';
import { eventually } from '../../../../../tests/harness/eventually.ts';
import { currentParameters } from './password-hash.ts';
import type { PasswordPoolOptions } from './password-pool.ts';
import { PasswordPool } from './password-pool.ts';
import type { PasswordThreadsOptions } from './password-threads.ts';
import { PasswordThreads } from './password-threads.ts';
import type { HashJob } from './password-worker.ts';

/** The least that argon2 takes, for tests of the code around it. */
const quick = { ...currentParameters, memoryKib: 8, passes: 1 };

function poolOf(options: PasswordPoolOptions = {}): PasswordPool {
  const pool = new PasswordPool({ parameters: quick, ...options });
  onTestFinished(() => pool.close());
  return pool;
}

function codeOf(error: unknown): string {
  if (!(error instanceof ReeveError)) throw error;
  return error.code;
}

describe('a password', () => {
  test('is hashed with the current parameters and a salt of its own, and verified', async () => {
    const pool = new PasswordPool();
    onTestFinished(() => pool.close());
    const [one, other] = await Promise.all([
      pool.hash('a-long-enough-password-1'),
      pool.hash('a-long-enough-password-1'),
    ]);
    expect(one).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
    expect(other).not.toBe(one);
    expect(await pool.verify('a-long-enough-password-1', one)).toEqual({ ok: true, outdated: false });
    expect(await pool.verify('a-long-enough-password-2', one)).toEqual({ ok: false, outdated: false });
    expect(await pool.verify('a-long-enough-password-1', pool.decoy)).toEqual({ ok: false, outdated: false });
  });

  test('is verified against a hash that the reference implementation made, and that hash is outdated', async () => {
    const made = '$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc';
    expect(await poolOf().verify('password', made)).toEqual({ ok: true, outdated: true });
    expect(await poolOf().verify('passwork', made)).toEqual({ ok: false, outdated: true });
  });

  test('of any script is one however it is typed', async () => {
    const pool = poolOf();
    const hash = await pool.hash('zoe\u0308 naïve 한국 🦊');
    expect(await pool.verify('zoë nai\u0308ve 한국 🦊', hash)).toMatchObject({ ok: true });
    expect(await pool.verify('zoe naive 한국 🦊', hash)).toMatchObject({ ok: false });
  });

  test('is compared to its end: neither a zero byte nor the 256th character hides what follows', async () => {
    const pool = poolOf();
    for (const text of ['a\u0000long enough password', '🦊'.repeat(255)]) {
      const hash = await pool.hash(`${text}1`);
      expect(await pool.verify(`${text}1`, hash)).toMatchObject({ ok: true });
      expect(await pool.verify(`${text}2`, hash)).toMatchObject({ ok: false });
    }
  });

  test('that is longer than any can be is wrong, and is not kept in memory while it waits', async () => {
    const pool = poolOf();
    expect(await pool.verify('x'.repeat(1_000_000), await pool.hash(''))).toMatchObject({ ok: false });
    expect(await pool.verify(`a${'\u0301\u0327'.repeat(100_000)}`, await pool.hash(''))).toMatchObject({ ok: false });
  });
});

describe('a hash', () => {
  test.each([
    ['nothing', ''],
    ['a letter', 'x'],
    ['a hash without salt and tag', '$argon2id$v=19$m=19456,t=2,p=1$$'],
    ['a hash of another kind', '$2b$12$abcdefghijklmnopqrstuv'],
    ['a hash that would take all memory', '$argon2id$v=19$m=4294967295,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5Q'],
    ['noise', 'a'.repeat(100_000)],
  ])('that is none is never ok, and does not throw: %s', async (_, hash) => {
    const pool = poolOf();
    expect(await pool.verify('a-long-enough-password-1', hash)).toEqual({ ok: false, outdated: false });
    expect(await pool.verify('', hash)).toEqual({ ok: false, outdated: false });
  });

  test('made with other parameters is ok and outdated, and not outdated once it is made anew', async () => {
    const before = poolOf({ parameters: { ...quick, passes: 2 } });
    const now = poolOf();
    const old = await before.hash('a-long-enough-password-1');
    expect(await now.verify('a-long-enough-password-1', old)).toEqual({ ok: true, outdated: true });
    const renewed = await now.hash('a-long-enough-password-1');
    expect(await now.verify('a-long-enough-password-1', renewed)).toEqual({ ok: true, outdated: false });
    expect(await before.verify('a-long-enough-password-1', renewed)).toEqual({ ok: true, outdated: true });
  });
});

test('while passwords are hashed the event loop goes on turning', async () => {
  const pool = new PasswordPool();
  onTestFinished(() => pool.close());
  await pool.hash('the thread is running');
  const hashes = Promise.all(Array.from({ length: 4 }, () => pool.hash('a-long-enough-password-1'))).then(() => true);
  let turns = 0;
  while (!(await Promise.race([hashes, nextTurn(false)]))) turns++;
  expect(turns).toBeGreaterThan(100);
});

test('hashing gives way to everything else, and the rest of the process keeps its priority', async () => {
  const before = getPriority();
  const pool = poolOf();
  await pool.hash('a-long-enough-password-1');
  expect(getPriority()).toBe(before);
  if (existsSync('/proc/self/task')) expect(nicenessOf('passwords')).toContain(10);
  expect(nicenessOf('MainThread')).not.toContain(10);
});

/** The niceness of all threads with this name, on Linux; empty elsewhere. */
function nicenessOf(name: string): number[] {
  if (!existsSync('/proc/self/task')) return [];
  return readdirSync('/proc/self/task').flatMap((thread) => {
    const stat = readFileSync(`/proc/self/task/${thread}/stat`, 'utf8');
    const end = stat.lastIndexOf(')');
    const fields = stat.slice(end + 2).split(' ');
    return stat.slice(stat.indexOf('(') + 1, end) === name ? [Number(fields[16])] : [];
  });
}

describe('threads', () => {
  const job: HashJob = { password: 'a-long-enough-password-1', salt: new Uint8Array(16), parameters: quick };

  function threadsOf(options: Partial<PasswordThreadsOptions> = {}): PasswordThreads & { readonly faults: string[] } {
    const faults: string[] = [];
    const threads = new PasswordThreads({
      threads: 2,
      waiting: 4,
      idleMs: 60_000,
      onFault: (why) => faults.push(why),
      ...options,
    });
    onTestFinished(() => threads.close());
    return Object.assign(threads, { faults });
  }

  /** An invalid job, which kills the thread that takes it. */
  const deadly = null as unknown as HashJob;

  test('are started when there is work, and no more of them than there may be', async () => {
    const threads = threadsOf();
    expect(threads.size).toBe(0);
    await threads.run(job);
    expect(threads.size).toBe(1);
    await Promise.all(Array.from({ length: 6 }, () => threads.run(job)));
    expect(threads.size).toBe(2);
  });

  test('are ended when there has been nothing to do for a while, and started again', async () => {
    const threads = threadsOf({ idleMs: 1 });
    const tag = await threads.run(job);
    await eventually(() => expect(threads.size).toBe(0));
    expect(await threads.run(job)).toEqual(tag);
  });

  test('have a line of bounded length; who finds it full is told to come back', async () => {
    const threads = threadsOf({ threads: 1, waiting: 3 });
    const first = [0, 1, 2, 3].map(() => threads.run(job));
    const refused = await threads.run(job).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'overloaded', facts: { retry_after_secs: 5 } });
    await Promise.all(first);
    await threads.run(job);
  });

  test('that die fail the password they had, and no other', async () => {
    const threads = threadsOf({ threads: 1 });
    const results = await Promise.allSettled([
      threads.run(job),
      threads.run(deadly),
      threads.run(job),
      threads.run(job),
    ]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
    expect(results.flatMap((result) => (result.status === 'rejected' ? codeOf(result.reason) : []))).toEqual([
      'overloaded',
    ]);
    expect(threads.faults).toHaveLength(1);
    expect(threads.size).toBe(1);
  });

  test('are replaced one by one, also when all die again and again', async () => {
    const threads = threadsOf({ waiting: 20 });
    const results = await Promise.allSettled(
      [deadly, deadly, deadly, deadly, job, deadly, job].map((each) => threads.run(each)),
    );
    expect(results.map(({ status }) => status === 'fulfilled')).toEqual([
      false,
      false,
      false,
      false,
      true,
      false,
      true,
    ]);
    expect(threads.size).toBeLessThanOrEqual(2);
  });

  test('survive what argon2 refuses', async () => {
    const threads = threadsOf();
    const odd = { ...job, salt: new Uint8Array(1) };
    expect(await threads.run(odd).catch(codeOf)).toBe('overloaded');
    expect(threads.faults).toHaveLength(1);
    expect(threads.size).toBe(1);
    await threads.run(job);
  });

  test('are ended by close, which fails whatever is not done and takes nothing more', async () => {
    const threads = threadsOf({ threads: 1 });
    const unfinished = [threads.run(job), threads.run(job)].map((answer) => answer.catch(codeOf));
    await threads.close();
    expect(await Promise.all(unfinished)).toEqual(['shutting_down', 'shutting_down']);
    expect(await threads.run(job).catch(codeOf)).toBe('shutting_down');
    expect(threads.size).toBe(0);
    expect(threads.faults).toEqual([]);
    await threads.close();
  });
});
