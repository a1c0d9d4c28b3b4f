import type { Meanings } from '../journal/index.ts';
import { nothingToApply, prune, push, put, shownOnly, storedOnly, touchesOrg } from '../journal/index.ts';
import { bindingOfName } from './document.ts';
import { putInForce } from './load-policies.ts';
import type { PoliciesState } from './policies.ts';
import { policySetsTable, policyTextsTable, policyVersionsTable, textsOf } from './policy-rows.ts';
import type { PoliciesChange, PolicyEvent } from './policy-slice.ts';
import { setsKept, versionsKept } from './store/policy-version.ts';
import { withWriter } from './store/writers-from-before.ts';

export const policyFacts: Meanings<PoliciesState, PoliciesChange | PolicyEvent> = {
  policy_saved: {
    apply: (gov, { saved }, { onDurable }) => {
      const { policyRegistry } = gov;
      if (saved.version <= (policyRegistry.newest(saved.name)?.version ?? 0)) return nothingToApply();
      const stored = policyRegistry.with([withWriter(gov, saved)]);
      const undo = putInForce(gov, { ...policyRegistry.sources, stored });
      onDurable(() => policyRegistry.changed());
      return undo;
    },
    touch: ({ saved }) => touchesOrg(bindingOfName(saved.name)?.orgId ?? null),
    rows: ({ saved }) => [
      put(policyVersionsTable, saved),
      prune(policyVersionsTable, [
        { column: 'name', is: '=', value: saved.name },
        { column: 'version', is: '<=', value: saved.version - versionsKept },
      ]),
    ],
  },
  policy_set_saved: {
    ...storedOnly,
    rows: ({ set }) => [push(policySetsTable, set, policyTextsTable, textsOf(set), setsKept)],
  },
  policy: shownOnly,
};
