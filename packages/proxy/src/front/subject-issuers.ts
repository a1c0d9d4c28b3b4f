import type { Reeve } from '@reeve/sdk';

interface Known {
  readonly issuers: Promise<readonly string[]>;
  readonly until: number;
}

/** For so long an answer of the gateway counts: its file of issuers may change while it runs. */
const knownMs = 30_000;
const mostKnown = 1000;

/** Whose tokens the gateway takes as those of the user for whom an agent acts. It says so to whoever has an agent's token. */
export class SubjectIssuers {
  readonly #identify: Reeve['identify'];
  readonly #known = new Map<string, Known>();

  constructor(identify: Reeve['identify']) {
    this.#identify = identify;
  }

  /** Throws what the gateway answers, or that it cannot be reached. */
  async include(issuer: string, agentToken: string): Promise<boolean> {
    return (await this.#find(agentToken).issuers).includes(issuer);
  }

  #find(agentToken: string): Known {
    const known = this.#known.get(agentToken);
    if (known !== undefined && known.until > performance.now()) return known;
    const issuers = this.#identify(agentToken).then(({ subjectIssuers }) => subjectIssuers);
    const asked = { issuers, until: performance.now() + knownMs };
    this.#known.delete(agentToken);
    this.#known.set(agentToken, asked);
    const [oldest] = this.#known.keys();
    if (oldest !== undefined && this.#known.size > mostKnown) this.#known.delete(oldest);
    issuers.catch(() => {
      if (this.#known.get(agentToken) === asked) this.#known.delete(agentToken);
    });
    return asked;
  }
}
