import { createHook } from 'node:async_hooks';
import { expect, test } from 'vitest';
import { HostNames } from './host-names.ts';

const never = new AbortController().signal;

/** How many names this process has asked the system for meanwhile. */
async function lookupsIn(work: () => Promise<unknown>): Promise<number> {
  let count = 0;
  const hook = createHook({ init: (_id, type) => void (type === 'GETADDRINFOREQWRAP' && count++) }).enable();
  try {
    await work();
  } finally {
    hook.disable();
  }
  return count;
}

test('many who ask for one name at once share one lookup, also while another name has its turn', async () => {
  const names = new HostNames();
  const asked = ['localhost', ...Array.from({ length: 100 }, () => 'ip6-localhost'), 'localhost'];
  const answers: unknown[] = [];
  const ask = () =>
    Promise.all(asked.map(async (name) => answers.push(await names.resolve(name, never).catch(String))));
  expect(await lookupsIn(ask)).toBe(2);
  expect(answers).toHaveLength(asked.length);
});

test('what was looked up is not kept: whoever asks later has it looked up again', async () => {
  const names = new HostNames();
  const ask = () => names.resolve('localhost', never);
  expect(await lookupsIn(async () => [await ask(), await ask()])).toBe(2);
});

test('what all have given up before its turn is not looked up, and what one still waits for is', async () => {
  const names = new HostNames();
  const leaving = new AbortController();
  const count = await lookupsIn(async () => {
    const first = names.resolve('localhost', never);
    const left = ['ip6-localhost', 'ip6-localhost', 'ip6-loopback'].map((name) => names.resolve(name, leaving.signal));
    const stays = names.resolve('ip6-loopback', never).catch(() => {});
    leaving.abort();
    await Promise.all([first, stays, ...left.map((each) => each.catch(() => {}))]);
  });
  expect(count).toBe(2);
});
