import type { JournalOf } from '../journal/journal.ts';
import type { AgentId } from '../kernel/ids.ts';
import type { Reactions } from '../kernel/announce.ts';
import type { Operations, OperationsChange, OperationsEvent, OpsReactions } from '../ops/operations.ts';
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
