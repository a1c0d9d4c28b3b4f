import type { Applying, Meanings, Undo, Write } from '../journal/index.ts';
import { agentValues, put, remove } from '../journal/index.ts';
import { agentKey } from '../kernel/index.ts';
import { isOver } from '../ops/index.ts';
import type { AgentDirectory, DelegationChange } from '../tenancy/index.ts';
import { delegateOfChange, delegationsTable } from '../tenancy/index.ts';
import type { ControlState } from './controls.ts';

interface State extends Pick<ControlState, 'clock' | 'control' | 'ops'> {
  readonly directory: AgentDirectory;
}

function apply({ directory }: State, change: DelegationChange): Undo {
  return directory.delegations.apply(change);
}

/**
 * The delegate is told to stop what it has in flight, on the streams that are open. They end right after. Nobody waits for
 * an answer: the token that would acknowledge is no longer valid.
 */
function end(
  state: State,
  change: Extract<DelegationChange, { readonly kind: 'delegation_ended' }>,
  how: Applying,
): Undo {
  const { control, directory, ops } = state;
  const { delegation, reason } = change;
  const { id, endedAt: at } = delegation;
  const agent = directory.find(id);
  const running = agent === undefined ? [] : [...ops.of(agent)].filter((op) => !isOver(op.state)).map((op) => op.opId);
  how.onDurable(() => {
    const outbox = agent === undefined ? undefined : control.find(agent.key);
    for (const { sink } of outbox?.streams ?? []) {
      for (const [place, opId] of running.entries()) {
        if (!sink.isOpen()) break;
        const sequence = (outbox?.lastSequence ?? 0) + place + 1;
        sink.send({ opId, signal: 'terminate', sequence, reason, issuedAt: at ?? 0, controlId: '' });
      }
    }
  });
  return apply(state, change);
}

function rows(change: DelegationChange): readonly Write[] {
  if (change.kind === 'delegation_removed') return [remove(delegationsTable, agentValues(change.id))];
  return [put(delegationsTable, change.delegation)];
}

/** Whoever stands above or below is concerned as well. */
const touch = (change: DelegationChange) => ({ org: delegateOfChange(change).orgId });

export const delegationFacts: Meanings<State, DelegationChange> = {
  delegation_saved: { apply, touch, rows },
  // Two checks that count for the same delegation never pass each other.
  delegation_used: { apply, touch: ({ delegation }) => ({ agent: agentKey(delegation.id) }), rows },
  delegation_ended: { apply: end, touch, rows },
  delegation_removed: { apply, touch, rows },
};
