import type { AgentId } from '../kernel/index.ts';
import { agentKey } from '../kernel/index.ts';

/** How many characters of changes are held for one org. */
const mostHeld = 4 * 1024 * 1024;

/** Changes that no fact may hold, because they are secret or long. They are known to this process alone, while it lasts. */
export class HeldRewrites {
  /** By org, so that no org pushes out what another needs. The oldest come first. */
  readonly #byOrg = new Map<string, { readonly changes: Map<string, string>; size: number }>();

  hold(agent: AgentId, opId: string, changes: string): void {
    this.forget(agent, opId);
    if (changes.length > mostHeld) return;
    const org = this.#byOrg.get(agent.orgId) ?? { changes: new Map<string, string>(), size: 0 };
    this.#byOrg.set(agent.orgId, org);
    org.changes.set(keyOf(agent, opId), changes);
    org.size += changes.length;
    for (const [key, held] of org.changes) {
      if (org.size <= mostHeld) break;
      org.changes.delete(key);
      org.size -= held.length;
    }
  }

  find(agent: AgentId, opId: string): string | undefined {
    return this.#byOrg.get(agent.orgId)?.changes.get(keyOf(agent, opId));
  }

  forget(agent: AgentId, opId: string): void {
    const org = this.#byOrg.get(agent.orgId);
    const held = org?.changes.get(keyOf(agent, opId));
    if (org === undefined || held === undefined) return;
    org.changes.delete(keyOf(agent, opId));
    org.size -= held.length;
    if (org.changes.size === 0) this.#byOrg.delete(agent.orgId);
  }
}

function keyOf(agent: AgentId, opId: string): string {
  return `${agentKey(agent)}/${opId}`;
}
