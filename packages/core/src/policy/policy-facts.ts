import type { Meanings } from '../journal/index.ts';
import { nothingToApply, shownOnly, touchesNobody, touchesOrg } from '../journal/index.ts';
import type { Policies } from './policies.ts';
import { policyRows } from './policy-rows.ts';
import type { PoliciesChange, PolicyEvent } from './policy-slice.ts';
import { bindingOfName } from './document.ts';
import { followPolicy } from './store/store-version.ts';

export const policyFacts: Meanings<Policies, PoliciesChange | PolicyEvent> = {
  policy_saved: {
    apply: (gov, { saved }) => {
      followPolicy(gov, saved);
      return nothingToApply();
    },
    touch: ({ saved }) => touchesOrg(bindingOfName(saved.name)?.orgId ?? null),
    rows: policyRows.policy_saved,
  },
  policy_set_saved: { apply: nothingToApply, touch: touchesNobody, rows: policyRows.policy_set_saved },
  policy: shownOnly,
};
