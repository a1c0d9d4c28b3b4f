import type { Issuers } from '../access/index.ts';
import { proveBy } from '../access/index.ts';
import type { AgentId, EpochMs, Sha256 } from '../kernel/index.ts';
import { RecentMap } from '../kernel/index.ts';
import type { WorkloadIssuer, WorkloadMatch } from './workload-entry.ts';
import { matchWorkload } from './workload-entry.ts';

/** A JWT that counts as the credential of an agent. */
export interface WorkloadProof {
  readonly agentId: AgentId;
  readonly expiresAt: EpochMs;
  readonly registers: boolean;
}

/** What a JWT has proven: an agent, or why none. */
export type Shown = WorkloadProof | { readonly why: string };

/** What is known of the JWTs that were shown lately. */
export interface KnownWorkloads {
  /** By the hash of the token. Undefined if it is no JWT, or nobody is believed. */
  find(hash: string): Shown | undefined;
}

/** At least as many are remembered between their verification and their use. */
const mostShown = 4096;

/** The JWTs of workloads. Nothing of them is kept but what they have proven, by their hash, and that not for long. */
export class Workloads implements KnownWorkloads {
  readonly #issuers: Issuers<WorkloadIssuer>;
  readonly #sha256: Sha256;
  #shown = new RecentMap<Shown>(mostShown);
  readonly #matches = new WeakMap<object, Map<WorkloadIssuer, WorkloadMatch>>();
  /** The entries by which all of that was proven. */
  #by: Issuers<WorkloadIssuer>['trusted'] = [];

  constructor(issuers: Issuers<WorkloadIssuer>, sha256: Sha256) {
    this.#issuers = issuers;
    this.#sha256 = sha256;
  }

  /**
   * Learns what a token proves, so that `find` knows. Each call that comes with it does that: keys are withdrawn, and
   * entries change. Undefined for a token that is no JWT, at no cost.
   */
  show(token: string): Shown | undefined | Promise<Shown> {
    const { trusted } = this.#issuers;
    if (!token.startsWith('eyJ') || trusted.length === 0) return undefined;
    const proven = proveBy(this.#issuers, token, 0, (entry, claims) => {
      const match = this.#matchOf(entry, claims);
      return match.ok ? { agentId: match.agentId, registers: entry.registers } : undefined;
    });
    const note = (answer: Awaited<typeof proven>): Shown => {
      const shown = answer.ok ? { ...answer.proof, expiresAt: answer.expiresAt } : { why: answer.why };
      // What was proven by entries that are gone by now is not believed.
      if (trusted === this.#issuers.trusted) this.#current().set(this.#sha256(token), shown);
      return shown;
    };
    return proven instanceof Promise ? proven.then(note) : note(proven);
  }

  /** What a token has proven does not help: its agent cannot be had. */
  refuse(token: string, why: string): void {
    this.#current().set(this.#sha256(token), { why });
  }

  /** A verified token is kept with its claims, so each entry looks at them once. */
  #matchOf(entry: WorkloadIssuer, claims: Readonly<Record<string, unknown>>): WorkloadMatch {
    const known = this.#matches.get(claims) ?? new Map<WorkloadIssuer, WorkloadMatch>();
    const match = known.get(entry) ?? matchWorkload(entry, claims);
    known.set(entry, match);
    this.#matches.set(claims, known);
    return match;
  }

  find(hash: string): Shown | undefined {
    return this.#current().get(hash);
  }

  #current(): RecentMap<Shown> {
    const { trusted } = this.#issuers;
    if (trusted !== this.#by) {
      this.#by = trusted;
      this.#shown = new RecentMap(mostShown);
    }
    return this.#shown;
  }
}
