import { randomInt } from 'node:crypto';
import type { Caller } from './caller.ts';
import type { AgentPort, RegisteredAgent } from './ports.ts';

export interface MadeKey {
  readonly id: string;
  readonly key: string;
}

/** Everything to be removed again, with the tenant of each key. */
export interface Made {
  readonly keys: (MadeKey & { readonly orgId: string; readonly teamId: string | null })[];
  readonly agents: RegisteredAgent[];
  /** Stored policies, by name. */
  readonly policies: Set<string>;
  /** Invites, by id. */
  readonly invites: Set<string>;
}

/** What the making of canaries needs. */
export interface CanarySetup {
  readonly caller: Caller;
  readonly adminCredential: string;
  readonly agents: AgentPort;
  readonly made: Made;
}

/** An address that no letter reaches (RFC 2606). */
export function canaryEmail(name: string): string {
  return `${name}@canary.invalid`;
}

export function randomText(length: number, alphabet = 'abcdefghijklmnopqrstuvwxyz234567'): string {
  return Array.from({ length }, () => alphabet.charAt(randomInt(alphabet.length))).join('');
}
