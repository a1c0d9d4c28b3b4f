import { nothingElse } from './build-call.ts';
import { codeOf } from './caller.ts';
import type { Credential } from './credentials.ts';
import { suffices } from './credentials.ts';
import type { Operation } from './operations.ts';
import type { Probe } from './probe.ts';
import { ask, lookThrough } from './probe.ts';
import { isSwitchedOff } from './switched-off.ts';

/**
 * Tries an operation reserved for unbound credentials or for people. The gateway refuses a tenant's key for exactly
 * that reason. Without an account store, account operations answer everybody the same.
 */
export async function tryUnbound(probe: Probe, operation: Operation, credential: Credential): Promise<void> {
  const answer = await ask(probe, operation, credential, nothingElse);
  lookThrough(probe, operation, credential, 'asked by a tenant', answer);
  const why = operation.tenancy === 'person' ? 'account_required' : 'tenant_bound';
  const expected = suffices(credential, operation.access) ? why : 'insufficient_scope';
  const code = codeOf(answer);
  if (answer.status === 403 && code === expected) return;
  if (operation.accounts && isSwitchedOff(answer)) return;
  probe.notebook.find(
    operation.name,
    credential.name,
    `answers ${answer.status} ${code} to a tenant instead of 403 ${expected}`,
  );
}
