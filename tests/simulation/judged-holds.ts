import { Broken } from './broken.ts';

/** A scope, or a run within it, as entries name it. Null stands for any. */
export interface HeldScope {
  readonly org_id?: string | null;
  readonly team_id?: string | null;
  readonly agent_id?: string | null;
  readonly run_id?: string;
}

/** What the log says of everything that stops agents. */
export class JudgedHolds {
  readonly #agents = new Set<string>();
  readonly #scopes = new Map<string, HeldScope>();
  readonly #runs = new Map<string, HeldScope>();

  suspend(agent: string): void {
    this.#agents.add(agent);
  }

  resume(agent: string): void {
    this.#agents.delete(agent);
  }

  holdScope(id: string, scope: HeldScope): void {
    this.#scopes.set(id, scope);
  }

  liftScope(id: string): void {
    this.#scopes.delete(id);
  }

  holdRun(id: string, run: HeldScope): void {
    this.#runs.set(id, run);
  }

  releaseRun(id: string): void {
    this.#runs.delete(id);
  }

  /** Nothing may be allowed to an agent that is stopped. */
  requireFree(seq: number, agent: string, opId: string): void {
    if (this.#agents.has(agent)) throw new Broken(`entry ${seq}: ${agent} is suspended, and ${opId} runs`);
    this.requireFreeScope(seq, agent, opId);
  }

  /** Nothing may begin to run in a scope that is suspended. */
  requireFreeScope(seq: number, agent: string, opId: string): void {
    for (const scope of this.#scopes.values()) {
      if (holds(scope, agent)) throw new Broken(`entry ${seq}: the scope of ${agent} is suspended, and ${opId} runs`);
    }
  }

  /** Nothing may be allowed in a run that is held. */
  requireFreeRun(seq: number, agent: string, runId: string): void {
    for (const run of this.#runs.values()) {
      if (run.run_id === runId && holds(run, agent)) {
        throw new Broken(`entry ${seq}: ${runId} of ${agent} is held, and an action in it is allowed`);
      }
    }
  }
}

function holds({ org_id, team_id, agent_id }: HeldScope, name: string): boolean {
  const [org, team, agent] = name.split('/');
  return (org_id ?? org) === org && (team_id ?? team) === team && (agent_id ?? agent) === agent;
}
