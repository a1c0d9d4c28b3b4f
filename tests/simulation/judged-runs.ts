import type { Batch } from '@reeve/core';
import { Broken } from './broken.ts';
import type { JudgedEntry } from './judged-entry.ts';
import { settings } from './virtual-gateway.ts';

interface JudgedRun {
  /** How many checks it may have. More than one number, if it may have been forgotten since somebody told. */
  counts: ReadonlySet<number>;
  lastAt: number;
}

/** Clocks of gateways differ. A run may be forgotten if nothing happened in it for as long as this, by any of them. */
export const quietMs = settings.runTtlMs / 2;

/** The run of an agent, by its id or by whoever stands above all. */
export function runOf(agent: string, runId: string | null | undefined, delegators: readonly string[]): string {
  const [org = '', team = ''] = agent.split('/');
  const isAlone = runId === undefined || runId === null || runId === '';
  return `${org}/${team} ${isAlone ? `alone ${delegators.at(-1) ?? agent}` : runId}`;
}

/** What the log says of runs: how many checks each has made. */
export class JudgedRuns {
  readonly #byName = new Map<string, JudgedRun>();
  #newest = 0;

  /** Entries are written at this time, by any clock. */
  moveTo(now: number): void {
    this.#newest = Math.max(this.#newest, now);
  }

  /** Runs are forgotten once they were quiet for long, by the clock of whoever says so. */
  forget(change: Batch['changes'][number]): void {
    if (change.kind !== 'runs_forgotten') return;
    for (const { orgId, teamId, agentId, runId } of change.runs) {
      const name = runOf(`${orgId}/${teamId}/${agentId}`, runId, []);
      const { lastAt = 0 } = this.#byName.get(name) ?? {};
      const quiet = (change.at ?? 0) - lastAt;
      if (quiet <= settings.runTtlMs) throw new Broken(`${name} is forgotten ${quiet} ms after a check in it`);
      // It begins anew, at a time that may be earlier: clocks differ.
      this.#byName.delete(name);
    }
  }

  /** A first check. What a condition saw of its run, if one asked, must be what the log adds up to. */
  count({ seq, agent, payload, at }: JudgedEntry, delegators: readonly string[]): void {
    // A clock may be ahead of the others.
    this.moveTo(at);
    const { run } = payload;
    const told = run?.checks;
    const name = runOf(agent, payload.run_id, delegators);
    const { counts: known, lastAt } = this.#byName.get(name) ?? { counts: new Set([0]), lastAt: at };
    const counts = this.#newest - lastAt > quietMs ? new Set([...known, 0]) : known;
    if (told !== undefined && !counts.has(told)) {
      throw new Broken(
        `entry ${seq}: a condition saw ${told} checks of ${name}; there were ${[...counts].join(' or ')}`,
      );
    }
    const before = told === undefined ? counts : new Set([told]);
    this.#byName.set(name, { counts: new Set([...before].map((one) => one + 1)), lastAt: Math.max(at, lastAt) });
  }
}
