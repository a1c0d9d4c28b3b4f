import { createContext, use } from 'react';
import type { TopologyAgent } from './topology-model.ts';

/** What can be done in the graph, and the time for all of it. */
export interface GraphActions {
  readonly now: number;
  readonly activePath: string | undefined;
  readonly onToggle: (key: string) => void;
  readonly onOpen: (path: string) => void;
  /** Undefined for whoever may not. */
  readonly onSuspension: ((agent: TopologyAgent) => void) | undefined;
}

const idle: GraphActions = {
  now: 0,
  activePath: undefined,
  onToggle: () => undefined,
  onOpen: () => undefined,
  onSuspension: undefined,
};

export const GraphContext = createContext(idle);

export function useGraph(): GraphActions {
  return use(GraphContext);
}
