import { Broken } from '../broken.ts';
import type { Random } from '../random.ts';
import type { AnyCommit } from './lane-facts.ts';
import type { LanesDatabase } from './lanes-database.ts';
import { LanesJudge } from './lanes-judge.ts';
import { tamper } from './tampering.ts';
import { exportOf, faultOf } from './verify-logs.ts';

/** How often a verifier is given logs that somebody has changed. */
const tamperings = 8;

/**
 * Reads all lanes as one log, page by page, by the number of the last entry that it has. What it has read must hold what
 * is promised of one log: it judges every prefix of it.
 */
export class LanesReader {
  readonly #database: LanesDatabase;
  readonly #random: Random;
  readonly #seen: AnyCommit[] = [];
  readonly #judge = new LanesJudge({ hearsCallers: false });

  constructor(database: LanesDatabase, random: Random) {
    this.#database = database;
    this.#random = random;
  }

  read(most = 1 + this.#random.int(40)): void {
    for (const entry of this.#database.ordered(this.#seen.length).slice(0, most)) {
      this.#judge.read(entry);
      this.#seen.push(entry);
    }
  }

  /** Once everything is at rest: the logs can be verified, what was changed shows, and each entry was told once. */
  requireTold(): void {
    const { checkpoints, lanes, common, rules, state } = this.#database;
    this.#database.checkpoint(checkpoints.length, this.#database.heads(), state.version);
    this.read(Number.POSITIVE_INFINITY);
    const count = [...lanes.values()].reduce((sum, { commits }) => sum + commits.length, common.length);
    if (this.#seen.length !== count) throw new Broken(`a reader was told ${this.#seen.length} of ${count} entries`);
    const anchor = checkpoints.at(-1)?.hash;
    const logs = exportOf(this.#database);
    const fault = faultOf(logs, anchor, rules);
    if (fault !== undefined) throw new Broken(`the logs do not verify: ${fault}`);
    for (let nth = 0; nth < tamperings; nth++) {
      const { how, logs: changed } = tamper(logs, this.#random);
      if (faultOf(changed, anchor, rules) === undefined) throw new Broken(`nobody noticed that ${how}`);
    }
  }
}
