import type { Noting } from '../journal/index.ts';
import { eachNoted, watched } from '../journal/index.ts';
import { agentKey } from '../kernel/index.ts';
import type { KnownOps } from './known-ops.ts';
import type { Op } from './op.ts';
import type { OpsRegistry } from './registry.ts';

/** The operations of all agents that have this id, under the name by which turns rest on them. */
export function opIdName(opId: string): string {
  return `operation ${opId}`;
}

/** Which operations have a row that says all. A mark for starts rests on it: a row may be taken back that it counts on. */
export const rowsWritten = 'rows of operations';

/** What housekeeping reads beside what rules see. */
type Kept = Pick<OpsRegistry, 'hasRowsToRemove' | 'sweep' | 'takeForgottenRows' | 'unsaved'>;

/** Not noted: sums over everybody that nothing is decided by. */
type Unnoted = 'count' | 'newest' | 'owners' | 'reservations';

/** Notes what rules read of operations. Those of an agent are its own state. */
export function watchedOps(ops: OpsRegistry, journal: Noting): OpsRegistry {
  const note = ({ owner }: Pick<Op, 'owner'>) => journal.reads({ agent: owner.key });
  const seen: Omit<KnownOps, Unnoted> & Kept = {
    of: (agent) => {
      note({ owner: agent });
      return ops.of(agent);
    },
    find: (agent, opId) => {
      note({ owner: agent });
      return ops.find(agent, opId);
    },
    get: (agent, opId) => {
      note({ owner: agent });
      return ops.get(agent, opId);
    },
    withId: (opId) => {
      const found = ops.withId(opId);
      journal.reads({ name: opIdName(opId) });
      for (const op of found) note(op);
      return found;
    },
    holds: (op) => {
      note(op);
      return ops.holds(op);
    },
    destination: (op, trigger) => {
      note(op);
      return ops.destination(op, trigger);
    },
    uncheckedFor: (ms) => eachNoted(ops.uncheckedFor(ms), note),
    endedWaiting: (isLeft) => eachNoted(ops.endedWaiting(isLeft), note),
    unsaved: () => eachNoted(ops.unsaved(), ([op]) => note(op)),
    get hasRowsToRemove() {
      journal.reads({ name: rowsWritten });
      return ops.hasRowsToRemove;
    },
    sweep: (most) => [...eachNoted(ops.sweep(most), note)],
    takeForgottenRows: (key) =>
      eachNoted(ops.takeForgottenRows(key), ({ id }) => journal.reads({ agent: agentKey(id) })),
  };
  return watched(ops, seen);
}
