import { canonicalJson } from '../audit/canonical-json.ts';
import { draftOf } from '../audit/draft.ts';
import { system } from '../audit/entry.ts';
import type { Governance } from '../governance.ts';
import { makeApiKey, newKeyRecord } from './api-key.ts';
import type { KeyRing } from './key-ring.ts';

/**
 * Sees to it that somebody can get in: installs the bootstrap key where one is given and not known yet, or makes an
 * admin key where there is none at all. Returns the key that was made, which nobody will be shown again.
 */
export async function installFirstKey(
  gov: Governance,
  keys: KeyRing,
  bootstrapKey: string | undefined,
): Promise<string | undefined> {
  if (bootstrapKey === undefined) {
    if (keys.size > 0) return undefined;
    const made = makeApiKey(gov.randomness);
    await install(gov, keys, made, 'admin');
    return made;
  }
  await install(gov, keys, bootstrapKey, 'bootstrap');
  return undefined;
}

async function install(gov: Governance, keys: KeyRing, key: string, label: string): Promise<void> {
  const record = newKeyRecord(key, gov.sha256, gov.clock.now(), {
    label,
    scopes: ['read', 'write', 'admin'],
    orgId: null,
    teamId: null,
    expiresAt: null,
    madeBy: null,
    rotatedFrom: null,
  });
  if (keys.find(record.id)?.hash === record.hash) return;
  keys.put(record);
  gov.journal.onFailure(() => keys.remove(record.id));
  gov.journal.write({ kind: 'api_key_saved', key: record });
  gov.journal.record(
    draftOf({
      at: gov.clock.now(),
      eventType: 'ApiKeyCreated',
      actor: system,
      payload: canonicalJson({ key_id: record.id, label: record.label, scopes: [...record.scopes] }),
    }),
  );
  await gov.journal.committed();
}
