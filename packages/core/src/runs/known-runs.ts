import type { LabelRegistry } from './label-registry.ts';
import type { RunRegistry } from './run-registry.ts';

/** What rules see of labels. */
export type KnownLabels = Pick<LabelRegistry, 'in' | 'of' | 'mayLabel' | 'hasTeam' | 'isEmpty' | 'newestAt'>;

/** What rules see of runs. Only facts count, give and clear. */
export type KnownRuns = Pick<
  RunRegistry,
  'of' | 'find' | 'all' | 'toMakeRoom' | 'toForget' | 'toSave' | 'forgotten' | 'namesBeyond'
> & { readonly labels: KnownLabels };
