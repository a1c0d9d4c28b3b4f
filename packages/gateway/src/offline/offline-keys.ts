import { existsSync } from 'node:fs';
import type { Change, DomainEvent } from '@reeve/core';
import { accessFacts, factsWith, Callers, EndedCredentials, Journal, KeyRing } from '@reeve/core';
import { replaceLostKey, sealer, SigningKeyRing } from '@reeve/core';
import { randomness, sha256 } from '../adapters/crypto/node-crypto.ts';
import { askKeySocket } from '../adapters/key-socket/ask-key-socket.ts';
import type { BootstrapKey } from '../adapters/key-socket/socket-place.ts';
import { systemClock as clock } from '../adapters/system/system-clock.ts';
import { path as pathOf } from '../config/parsers.ts';
import { StartError } from '../start-error.ts';
import { openStoreIn, storePathIn } from './open-store-in.ts';

/** Keys without a credential, for whoever has the machine of a gateway. */

export type { BootstrapKey } from '../adapters/key-socket/socket-place.ts';

/**
 * Makes an admin key in a data folder: by the socket of the gateway that runs on it, or, if none does, in the store
 * itself. A failure is one line that says what to do.
 */
export async function bootstrapKeyIn(dataDir: string): Promise<BootstrapKey> {
  return (await askKeySocket(pathOf(dataDir))) ?? (await makeKeyIn(dataDir));
}

async function makeKeyIn(dataDir: string): Promise<BootstrapKey> {
  const path = storePathIn(dataDir);
  // A new store would only hide that the folder is mistyped. Its first gateway makes a key by itself.
  if (!existsSync(path)) throw new StartError(`there is no store ${path}: give the data folder of a gateway`);
  await using opened = new AsyncDisposableStack();
  const { store } = openStoreIn(dataDir, opened);
  const { head, apiKeys, restoredFrom } = await store.load();
  if (restoredFrom !== null) {
    // The next entry of the log is to say that the store was restored.
    throw new StartError('the store was restored from a backup: start its gateway once, and stop it, before this');
  }
  const keys = new KeyRing(clock, sha256, apiKeys);
  const callers = new Callers(clock, keys, new SigningKeyRing([]));
  const access = { keys, callers, ended: new EndedCredentials() };
  const journal = new Journal<Change, DomainEvent>(
    {
      commit: (batch) => store.commit(batch),
      soon: setImmediate,
      seal: sealer(sha256),
      ...factsWith(accessFacts, () => access),
      publish: () => undefined,
      onCommit: () => undefined,
      onError: (error) => {
        throw error;
      },
    },
    head,
  );
  opened.defer(() => journal.close());
  const { key, record } = await replaceLostKey({
    keys,
    journal,
    clock,
    randomness,
    sha256,
  });
  return { ...record, key };
}
