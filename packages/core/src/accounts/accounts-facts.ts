import type { Access } from '../access/index.ts';
import type { Meanings } from '../journal/index.ts';
import { nothingToApply, touchesNobody } from '../journal/index.ts';
import type { AccountsChange } from './accounts.ts';
import { accountRows } from './accounts-rows.ts';
import { followAccounts } from './change-accounts.ts';

export const accountsFacts: Meanings<Pick<Access, 'callers' | 'ended'>, AccountsChange> = {
  owed_entry_recorded: { apply: nothingToApply, touch: touchesNobody, rows: accountRows.owed_entry_recorded },
  rights_changed: {
    apply: (state, change) => {
      followAccounts(state, change);
      return nothingToApply();
    },
    // Turns ask for their callers by themselves.
    touch: touchesNobody,
    rows: accountRows.rights_changed,
  },
};
