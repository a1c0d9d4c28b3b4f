import type { Meanings } from '../journal/index.ts';
import { nothingToApply, touchesNobody, touchesOrg } from '../journal/index.ts';
import type { Access, AccessChange } from './access.ts';
import { accessRows } from './access-rows.ts';
import { followAccess } from './manage-keys.ts';

type State = Pick<Access, 'keys' | 'callers' | 'ended'>;

function follow(state: State, change: AccessChange) {
  followAccess(state, change);
  return nothingToApply();
}

export const accessFacts: Meanings<State, AccessChange> = {
  api_key_saved: { apply: follow, touch: ({ key }) => touchesOrg(key.orgId), rows: accessRows.api_key_saved },
  api_key_used: { apply: follow, touch: touchesNobody, rows: accessRows.api_key_used },
  signing_key_saved: { apply: follow, touch: touchesNobody, rows: accessRows.signing_key_saved },
  signing_key_removed: { apply: follow, touch: touchesNobody, rows: accessRows.signing_key_removed },
};
