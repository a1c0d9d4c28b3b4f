import { expect, test } from 'vitest';
import { GatewayWatch } from './lost-gateway.ts';
import type { LostGateway } from './profile.ts';

const at = { address: 'a' } as const;

function watching(way: LostGateway) {
  const deeds: string[] = [];
  const watch = new GatewayWatch(
    {
      way,
      onLost: async (what) => {
        deeds.push(`${what} begins`);
        await Promise.resolve();
        deeds.push(`${what} is done`);
      },
      onBack: () => deeds.push('back'),
      onRefused: () => deeds.push('refused'),
    },
    1,
  );
  return { watch, deeds };
}

const never = new Promise<void>(() => {});

test('whoever waits for the gateway goes on once it is heard', async () => {
  const { watch, deeds } = watching('pause');
  await watch.until(Promise.resolve());
  expect(deeds).toEqual([]);
});

test.each(['pause', 'stop'] as const)(
  'a gateway that is not heard is a lost one: %s comes first, and once',
  async (way) => {
    const { watch, deeds } = watching(way);
    await watch.until(never);
    expect(deeds).toEqual([`${way} begins`, `${way} is done`]);
    watch.hear({ type: 'lost', ...at, reason: '' });
    await watch.until(never);
    expect(deeds).toHaveLength(2);
    watch.hear({ type: 'connected', ...at, again: true });
    expect(deeds.at(-1)).toBe('back');
  },
);

test('where the program is to go on without a gateway, nothing is done but to wait', async () => {
  const { watch, deeds } = watching('continue');
  await watch.until(never);
  watch.hear({ type: 'connected', ...at, again: true });
  expect(deeds).toEqual([]);
});

test('a gateway that is heard after that is back, without another event', async () => {
  const { watch, deeds } = watching('pause');
  const { promise: heard, resolve: hear } = Promise.withResolvers<void>();
  await watch.until(heard);
  hear();
  await heard;
  expect(deeds).toEqual(['pause begins', 'pause is done', 'back']);
});
