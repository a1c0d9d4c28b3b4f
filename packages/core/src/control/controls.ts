import type { JournalOf } from '../journal/index.ts';
import type { AgentId, Reactions } from '../kernel/index.ts';
import type { Operations, OperationsChange, OperationsEvent, OpsReactions, OpsRegistry } from '../ops/index.ts';
import type { ControlRegistry, KnownControls } from './control-registry.ts';
import type { ControlChange } from './control-slice.ts';

export interface ControlReactions extends OpsReactions {
  /** A message without a receipt need not be sent any more. It leaves its outbox. */
  readonly messageGone: Reactions<{ readonly agent: AgentId; readonly sequence: number }>;
}

/** The dependencies of the control use cases. */
export interface Controls extends Operations {
  /** The messages to agents about their operations, and the answers. */
  readonly control: KnownControls;
  readonly journal: JournalOf<OperationsChange | ControlChange, OperationsEvent>;
  readonly reactions: ControlReactions;
}

/** What a message to an agent changes. */
export interface OutboxState extends Controls {
  readonly control: ControlRegistry;
}

/** What facts change: an operation shows its last control. */
export interface ControlState extends OutboxState {
  readonly ops: OpsRegistry;
}
