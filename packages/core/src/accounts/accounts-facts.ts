import type { Access, Callers } from '../access/index.ts';
import type { Meanings } from '../journal/index.ts';
import { noRows, nothingToApply, remove, storedOnly, touchesNobody } from '../journal/index.ts';
import type { AccountsChange } from './accounts.ts';
import { outboxTable } from './accounts-rows.ts';

interface State extends Pick<Access, 'ended'> {
  readonly callers: Callers;
}

export const accountsFacts: Meanings<State, AccountsChange> = {
  owed_entry_recorded: { ...storedOnly, rows: ({ id }) => [remove(outboxTable, { id })] },
  rights_changed: {
    apply: ({ callers, ended }, { ids }, { onDurable }) => {
      callers.ended(ids);
      const [first] = ids;
      // Whoever listens checks all.
      if (first !== undefined) onDurable(() => ended.ended(first));
      // The accounts have changed, whatever becomes of the turn that tells.
      return nothingToApply();
    },
    // Turns ask for their callers by themselves.
    touch: touchesNobody,
    rows: noRows,
  },
};
