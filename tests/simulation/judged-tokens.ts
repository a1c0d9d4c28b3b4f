import { Broken } from './broken.ts';

/** How long a token works on after it was renewed, and how many such tokens an agent has. */
const formerForMs = 60_000;
const mostFormer = 8;

/** A token, by its hash, and when it ends. Null: never. */
interface JudgedToken {
  readonly hash: string;
  readonly until: number | null;
}

/** What an agent has shown with something that it asks for: its token, and for which user it acts. */
export interface Shown {
  readonly hash: string;
  /** The user that the token of a subject names, and when that token ends with all leeway. */
  readonly user?: { readonly sub: string; readonly until: number };
}

/**
 * Which tokens of an agent are in force by the log. Tokens are known by their hashes, which the changes beside the entries
 * name. How long they work is counted here: a registration says its time to live as its version.
 */
export class JudgedTokens {
  readonly #inForce = new Map<string, JudgedToken & { readonly ttlMs: number | null }>();
  readonly #former = new Map<string, readonly JudgedToken[]>();
  /** Hashes of tokens that the commit at hand has saved, for the entries that tell of them. */
  readonly #saved = new Map<string, string[]>();
  /** What agents have asked for, by what they have shown, and got no answer yet. */
  readonly #asked = new Map<string, Shown[]>();

  /** A commit has saved the hash of a token. */
  saved(agent: string, hash: string): void {
    this.#saved.set(agent, [...(this.#saved.get(agent) ?? []), hash]);
  }

  /** The agent has a token that replaces all others. Null: it never ends. */
  give(seq: number, agent: string, at: number, ttlMs: number | null): void {
    const hash = this.#take(seq, agent);
    this.#former.delete(agent);
    this.#inForce.set(agent, { hash, ttlMs, until: ttlMs === null ? null : at + ttlMs });
  }

  /** The agent has a token with the life of the one before, which works on for a while. */
  renew(seq: number, agent: string, at: number): void {
    const before = this.#inForce.get(agent);
    if (before === undefined) throw new Broken(`entry ${seq}: ${agent} renews a token and has none`);
    const replaced = { hash: before.hash, until: at + formerForMs };
    const former = [replaced, ...(this.#former.get(agent) ?? [])].filter(({ until }) => until === null || until > at);
    this.give(seq, agent, at, before.ttlMs);
    this.#former.set(agent, former.slice(0, mostFormer));
  }

  /** The agent has left, or acts for nobody any more. */
  end(agent: string): void {
    this.#inForce.delete(agent);
    this.#former.delete(agent);
  }

  /** Whether the agent has a token at all. */
  has(agent: string): boolean {
    return this.#inForce.has(agent);
  }

  /** An agent asks. Call the result when it is answered: nothing is done for it after that. */
  ask(what: string, shown: Shown): () => void {
    const asked = this.#asked.get(what) ?? [];
    this.#asked.set(what, [...asked, shown]);
    return () => {
      const left = [...(this.#asked.get(what) ?? [])];
      left.splice(left.indexOf(shown), 1);
      if (left.length > 0) this.#asked.set(what, left);
      else this.#asked.delete(what);
    };
  }

  /**
   * What an agent is allowed, or has done, it has asked for by a token that is in force at this place of the log and at
   * this time. `sub`: the user for whom it is done, whose token had not ended; undefined if that is not asked.
   */
  requireAsked(seq: number, agent: string, what: string, at: number, sub?: string | null): void {
    const inForce = [this.#inForce.get(agent), ...(this.#former.get(agent) ?? [])].filter((token) => {
      return token !== undefined && (token.until === null || at < token.until);
    });
    const asked = this.#asked.get(what) ?? [];
    const counts = asked.filter(({ hash }) => inForce.some((token) => token?.hash === hash));
    if (counts.length === 0) {
      const by = asked.length === 0 ? 'nobody has asked' : `it was asked for by ${asked.map(nameOf).join(', ')}`;
      const known = inForce.map((token) => nameOf(token ?? { hash: 'none' })).join(', ') || 'none';
      throw new Broken(`entry ${seq}: ${what} is served, and ${by}; in force is ${known}`);
    }
    if (sub === undefined || counts.some(({ user }) => (user?.sub ?? null) === sub && at < (user?.until ?? Infinity)))
      return;
    throw new Broken(`entry ${seq}: ${what} is served for ${sub ?? 'nobody'}, and no token of such a user was shown`);
  }

  #take(seq: number, agent: string): string {
    const [hash, ...rest] = this.#saved.get(agent) ?? [];
    if (hash === undefined) throw new Broken(`entry ${seq}: ${agent} has a new token, and none was saved`);
    if (rest.length > 0) this.#saved.set(agent, rest);
    else this.#saved.delete(agent);
    return hash;
  }
}

function nameOf({ hash }: Pick<JudgedToken, 'hash'>): string {
  return `token ${hash.slice(0, 8)}`;
}
