import type { Scope } from '@reeve/contract/names';
import { scopes } from '@reeve/contract/names';
import type { Grant } from './grant.ts';
import { useObservable } from './observable.ts';
import type { SessionState } from './session.ts';
import { session } from './session.ts';

export function useSession(): SessionState {
  return useObservable(session.state);
}

/** Who is signed in. Undefined on public pages. */
export function useGrant(): Grant | undefined {
  const state = useSession();
  return state.status === 'signed_in' ? state.grant : undefined;
}

/** Whether the person has a scope. A higher scope includes the lower ones. */
export function useCan(scope: Scope): boolean {
  const grant = useGrant();
  return grant?.scopes.some((held) => scopes.indexOf(held) >= scopes.indexOf(scope)) === true;
}
