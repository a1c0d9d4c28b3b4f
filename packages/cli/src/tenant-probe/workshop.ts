import { randomInt } from 'node:crypto';
import type { Caller } from './caller.ts';
import type { AgentPort, RegisteredAgent } from './ports.ts';

export interface MadeKey {
  readonly id: string;
  readonly key: string;
}

/** Everything that was made and has to go again, with the tenant each key is bound to. */
export interface Made {
  readonly keys: (MadeKey & { readonly orgId: string; readonly teamId: string | null })[];
  readonly agents: RegisteredAgent[];
  /** Stored policies, by name. */
  readonly policies: Set<string>;
}

/** What making canaries needs. */
export interface Workshop {
  readonly caller: Caller;
  readonly adminCredential: string;
  readonly agents: AgentPort;
  readonly made: Made;
}

export function randomText(length: number, alphabet = 'abcdefghijklmnopqrstuvwxyz234567'): string {
  return Array.from({ length }, () => alphabet.charAt(randomInt(alphabet.length))).join('');
}
