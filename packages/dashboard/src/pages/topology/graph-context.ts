import { createContext, use } from 'react';
import type { TopologyAgent } from './topology-model.ts';

/** An org, or a team of it. */
export interface HeldScope {
  readonly org_id: string;
  readonly team_id?: string;
}

/** The actions in the graph, and one shared time. */
export interface GraphActions {
  readonly now: number;
  readonly activePath: string | undefined;
  readonly onToggle: (key: string) => void;
  readonly onOpen: (path: string) => void;
  /** Undefined if the person may not. */
  readonly onSuspension: ((agent: TopologyAgent) => void) | undefined;
  /** Holds an org or a team. Undefined where the person may not. */
  readonly holdOf: (scope: HeldScope) => (() => void) | undefined;
}

const idle: GraphActions = {
  now: 0,
  activePath: undefined,
  onToggle: () => undefined,
  onOpen: () => undefined,
  onSuspension: undefined,
  holdOf: () => undefined,
};

export const GraphContext = createContext(idle);

export function useGraph(): GraphActions {
  return use(GraphContext);
}
