import { expect, test } from 'vitest';
import { Random } from './random.ts';
import { settled } from './requirements.ts';
import { VirtualLog } from './virtual-log.ts';

test('the work of a gateway that has ended may be done, and the gateway hears and does nothing more', async () => {
  const heard: string[] = [];
  const done: string[] = [];
  const seeds = Array.from({ length: 20 }, (_, seed) => seed);
  for (const seed of seeds) {
    const log = new VirtualLog(() => undefined, new Random(0));
    const member = log.join('present');
    const ask = (what: string) => void log.ask(member, 'commit', () => done.push(what)).then(() => heard.push(what));
    ask('before');
    log.leave(member, new Random(seed));
    ask('after');
    expect(log.waiting).toBe(0);
  }
  await settled();
  expect(heard).toEqual([]);
  expect(new Set(done)).toEqual(new Set(['before']));
  expect(done.length).toBeLessThan(seeds.length);
});

test('whoever loses an answer never gets it', async () => {
  const heard: unknown[] = [];
  const log = new VirtualLog(() => undefined, new Random(0));
  const member = log.join('present');
  void log.ask(member, 'commit', () => 'done').then((answer) => heard.push(answer));
  expect(log.work(0, 'answer lost')).toBe(member);
  await settled();
  expect(heard).toEqual([]);
});
