import { Broken } from './broken.ts';

/** Which token of an agent is in force by the log. Tokens are numbered, and a registration says its number as its version. */
export class JudgedTokens {
  readonly #inForce = new Map<string, number>();
  /** By which tokens agents have asked for something about an operation, and got no answer yet. */
  readonly #asked = new Map<string, number[]>();

  register(agent: string, token: number): void {
    this.#inForce.set(agent, token);
  }

  /** The agent has left. */
  end(agent: string): void {
    this.#inForce.delete(agent);
  }

  /** An agent asks. Call the result when it is answered: nothing is done for it after that. */
  ask(op: string, token: number): () => void {
    const asked = this.#asked.get(op) ?? [];
    this.#asked.set(op, [...asked, token]);
    return () => {
      const left = [...(this.#asked.get(op) ?? [])];
      left.splice(left.indexOf(token), 1);
      if (left.length > 0) this.#asked.set(op, left);
      else this.#asked.delete(op);
    };
  }

  /** What an agent is allowed, or has done, it has asked for by the token that is in force at this place of the log. */
  requireAsked(seq: number, agent: string, op: string): void {
    const token = this.#inForce.get(agent);
    const asked = this.#asked.get(op) ?? [];
    if (token !== undefined && asked.includes(token)) return;
    const by = asked.length === 0 ? 'nobody has asked' : `it was asked for by token ${asked.join(', ')}`;
    throw new Broken(`entry ${seq}: ${op} is served, and ${by}; in force is token ${token ?? 'none'}`);
  }
}
