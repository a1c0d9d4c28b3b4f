import type { Clock } from '@reeve/core';

export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
};
