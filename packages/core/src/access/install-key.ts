import { canonicalJson } from '../audit/canonical-json.ts';
import { draftOf, system } from '../audit/entry.ts';
import type { Access } from './access.ts';
import { makeApiKey, newKeyRecord } from './api-key.ts';

type Installing = Pick<Access, 'keys' | 'journal' | 'clock' | 'randomness' | 'sha256'>;

/**
 * Sees to it that somebody can get in: installs the bootstrap key where one is given and not known yet, or makes an
 * admin key where there is none at all. Returns the key that was made, which nobody will be shown again.
 */
export async function installFirstKey(
  access: Installing,
  bootstrapKey: string | undefined,
): Promise<string | undefined> {
  if (bootstrapKey === undefined) {
    if (access.keys.size > 0) return undefined;
    const made = makeApiKey(access.randomness);
    await install(access, made, 'admin');
    return made;
  }
  await install(access, bootstrapKey, 'bootstrap');
  return undefined;
}

async function install({ keys, journal, clock, sha256 }: Installing, key: string, label: string): Promise<void> {
  const record = newKeyRecord(key, sha256, clock.now(), {
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
  journal.onFailure(() => keys.remove(record.id));
  journal.write({ kind: 'api_key_saved', key: record });
  journal.record(
    draftOf({
      at: clock.now(),
      eventType: 'ApiKeyCreated',
      actor: system,
      payload: canonicalJson({ key_id: record.id, label: record.label, scopes: [...record.scopes] }),
    }),
  );
  await journal.committed();
}
