import { Badge } from '../../ui/badge.tsx';
import { coverageWords } from './coverage-words.ts';
import type { TopologyAgent } from './topology-model.ts';

/** Says what an agent never asked about. */
export function CoverageChips({ uncovered }: Pick<TopologyAgent, 'uncovered'>) {
  return uncovered.map((family) => {
    const { label, explanation, tone } = coverageWords(family);
    return (
      <Badge key={family} tone={tone} title={explanation}>
        {label}
      </Badge>
    );
  });
}
