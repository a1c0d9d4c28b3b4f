import type { DoorId } from '../connect/door-ids.ts';
import type { TopologyAgent } from './topology-model.ts';

type Uncovered = TopologyAgent['uncovered'][number];

interface CoverageWords {
  /** For a chip. */
  readonly label: string;
  readonly title: string;
  readonly explanation: string;
  /** Amber where an operator should look: what acts unchecked. Many agents rightly call no model. */
  readonly tone: 'warn' | 'neutral';
  /** The door that would close the gap. */
  readonly door: DoorId;
}

const words: Readonly<Record<Uncovered, CoverageWords>> = {
  tools: {
    label: 'Tools unchecked',
    title: 'What it does is not checked',
    explanation:
      'Its model calls are checked, but never a tool, command, file or network call. Either it does nothing of the kind, or it does so without asking.',
    tone: 'warn',
    door: 'mcp-stdio',
  },
  model_calls: {
    label: 'Model unchecked',
    title: 'Model calls are not checked',
    explanation:
      'What it does is checked, but never a model call. Either it uses no model, or it calls one without asking, and no budget counts that.',
    tone: 'neutral',
    door: 'openai',
  },
};

/** What an agent never asked about, in words. */
export function coverageWords(uncovered: Uncovered): CoverageWords {
  return words[uncovered];
}
