import type { ApiKeyRecord } from './api-key.ts';
import type { SigningKeyRecord } from './signing-key.ts';
import type { Access } from './access.ts';

/** Takes over what another gateway on the same store has made durable of an API key; undefined: it is gone. */
export function followApiKey({ keys, ended }: Access, id: string, record: ApiKeyRecord | undefined): void {
  const wasInForce = keys.isInForce(id);
  if (record === undefined) keys.remove(id);
  else keys.put(record);
  if (wasInForce && !keys.isInForce(id)) ended.ended(id);
}

/** The same of a key that signs tokens. */
export function followSigningKey({ signingKeys }: Access, kid: string, record: SigningKeyRecord | undefined): void {
  if (record === undefined) signingKeys.remove(kid);
  else signingKeys.add(record);
}
