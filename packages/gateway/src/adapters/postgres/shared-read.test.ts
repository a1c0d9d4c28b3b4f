import { describe, expect, test } from 'vitest';
import { SharedRead } from './shared-read.ts';

/** A read whose answers are its numbers, and that ends when it is told to. */
function slowRead() {
  const running: PromiseWithResolvers<number>[] = [];
  const shared = new SharedRead(() => {
    const read = Promise.withResolvers<number>();
    running.push(read);
    return read.promise;
  });
  const begun = async (count: number) => await expect.poll(() => running.length).toBe(count);
  const end = (number: number) => running[number - 1]?.resolve(number);
  const fail = (number: number) => running[number - 1]?.reject(new Error(`read ${number} failed`));
  return { shared, begun, end, fail };
}

describe('a shared read', () => {
  test('is one for all who ask before it begins, and the next one for all who ask while it runs', async () => {
    const { shared, begun, end } = slowRead();
    const first = [shared.ask(), shared.ask()];
    await begun(1);
    const second = [shared.ask(), shared.ask(), shared.ask()];
    end(1);
    expect(await Promise.all(first)).toEqual([1, 1]);
    await begun(2);
    end(2);
    expect(await Promise.all(second)).toEqual([2, 2, 2]);
  });

  test('that fails fails for those who shared it, and for nobody after them', async () => {
    const { shared, begun, end, fail } = slowRead();
    const first = shared.ask();
    await begun(1);
    const second = shared.ask();
    fail(1);
    await expect(first).rejects.toThrow('read 1 failed');
    await begun(2);
    end(2);
    expect(await second).toBe(2);
  });
});
