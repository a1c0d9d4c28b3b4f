import type { Random } from './random.ts';
import type { LaterForms, Release } from './releases.ts';

/**
 * What happens more in one simulation than in others (swarm testing). Where everything happens in its usual measure, what
 * is rare seldom meets what else is rare.
 */
export interface Bias {
  /** How much actions are said to cost, and did cost. Null: what was said. */
  readonly costs: readonly number[];
  readonly actuals: readonly (number | null)[];
  /** How likely the database refuses a piece of work. */
  readonly refusals: number;
  /** Which other releases run beside the present one. Gateways are updated when they start again. */
  readonly releases: readonly Release[];
  /** What a newer release writes in a form that the present one does not know. */
  readonly laterForms: LaterForms;
}

const slight = [0.3, 1, 1, 3];
const strong = [0, ...slight, 6];

/** Scales the weight of each by a factor that is drawn. */
export function biased<Item extends { readonly weight: number }>(
  random: Random,
  items: readonly Item[],
  how: 'slightly' | 'strongly',
): Item[] {
  const factors = how === 'slightly' ? slight : strong;
  return items.map((item) => ({ ...item, weight: item.weight * random.pick(factors) }));
}

/** Any fact now and then; or a few kinds often, so that gateways go on for long before they meet one. */
function drawForms(random: Random): LaterForms {
  return random.chance(0.4)
    ? { kinds: 1, salt: 0, chance: 0.04 }
    : { kinds: random.pick([0.03, 0.1]), salt: random.int(1_000_000), chance: 0.5 };
}

export function drawBias(random: Random): Bias {
  return {
    costs: random.pick([
      [0, 1e5, 2e5, 1e6, 2e6, 12e6],
      // Caps are full of reservations.
      [0, 2e6, 12e6, 12e6],
    ]),
    actuals: random.pick([[null, null, 0, 1e6], [0], [0, 0, 0, null]]),
    refusals: random.pick([0.003, 0.013, 0.05]),
    releases: random.pick([[], [], ['older'], ['newer'], ['older', 'newer']] as const),
    laterForms: drawForms(random),
  };
}
