import { Badge } from '../../ui/badge.tsx';
import { coverageWords } from './coverage-words.ts';
import type { TopologyAgent } from './topology-model.ts';

/** Warns of what an agent never asked about. */
export function CoverageChips({ uncovered }: Pick<TopologyAgent, 'uncovered'>) {
  return uncovered.map((family) => {
    const { label, explanation } = coverageWords(family);
    return (
      <Badge key={family} tone="warn" title={explanation}>
        {label}
      </Badge>
    );
  });
}
