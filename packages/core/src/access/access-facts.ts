import type { Meanings } from '../journal/index.ts';
import { put, remove, touchesNobody, touchesOrg, update } from '../journal/index.ts';
import type { AccessChange, EndedCredentials } from './access.ts';
import { apiKeysTable, signingKeysTable } from './access-rows.ts';
import type { Callers } from './callers.ts';
import type { KeyRing } from './key-ring.ts';

/** All signing keys, under the name by which turns claim them. */
const signingKeysName = 'signing keys';

interface State {
  readonly keys: KeyRing;
  readonly callers: Callers;
  readonly ended: EndedCredentials;
}

export const accessFacts: Meanings<State, AccessChange> = {
  api_key_saved: {
    apply: ({ keys, ended }, { key }, { onDurable }) => {
      const wasInForce = keys.isInForce(key.id);
      const undo = keys.put(key);
      if (wasInForce && !keys.isInForce(key.id)) onDurable(() => ended.ended(key.id));
      return undo;
    },
    touch: ({ key }) => touchesOrg(key.orgId),
    rows: ({ key }) => [put(apiKeysTable, key)],
  },
  api_key_used: {
    apply: ({ keys }, { id, at }) => keys.written(id, at),
    touch: touchesNobody,
    rows: ({ id, at }) => [
      update(apiKeysTable, { id }, (key) => key && { ...key, lastUsedAt: Math.max(key.lastUsedAt ?? 0, at) }),
    ],
  },
  signing_key_saved: {
    apply: ({ callers }, { key }) => callers.signingKeys.add(key),
    touch: touchesNobody,
    // Whoever replaces or retires keys must know them all.
    claims: () => [signingKeysName],
    rows: ({ key }) => [put(signingKeysTable, key)],
  },
  signing_key_removed: {
    apply: ({ callers }, { kid }) => callers.signingKeys.remove(kid),
    touch: touchesNobody,
    claims: () => [signingKeysName],
    rows: ({ kid }) => [remove(signingKeysTable, { kid })],
  },
};
