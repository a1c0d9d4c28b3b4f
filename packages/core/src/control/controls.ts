import type { JournalOf } from '../journal/index.ts';
import type { AgentId, Reactions } from '../kernel/index.ts';
import type { Operations, OperationsChange, OperationsEvent, OpsReactions } from '../ops/index.ts';
import type { ControlRegistry } from './control-registry.ts';
import type { ControlChange } from './control-slice.ts';

export interface ControlReactions extends OpsReactions {
  /** A message that needed no receipt has left its outbox: it is not sent again. */
  readonly messageGone: Reactions<{ readonly agent: AgentId; readonly sequence: number }>;
}

/** What the use cases of control work on. */
export interface Controls extends Operations {
  /** What agents are told about their operations, and what they say to it. */
  readonly control: ControlRegistry;
  readonly journal: JournalOf<OperationsChange | ControlChange, OperationsEvent>;
  readonly reactions: ControlReactions;
}
