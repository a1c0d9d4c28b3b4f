import type { AgentId } from '../kernel/index.ts';

const most = 10_000;

/** What belongs to the agents of the last entries, by their lineage as the log writes it. */
export class ByLineage<Item> {
  readonly #itemOf: (id: AgentId) => Item;
  readonly #known = new Map<string, { readonly item: Item }>();

  constructor(itemOf: (id: AgentId) => Item) {
    this.#itemOf = itemOf;
  }

  of(lineage: string): Item {
    const known = this.#known.get(lineage);
    if (known !== undefined) return known.item;
    if (this.#known.size === most) this.#known.clear();
    const parsed = JSON.parse(lineage) as { org_id: string | null; team_id: string; agent_id: string };
    const item = this.#itemOf({ orgId: parsed.org_id ?? '', teamId: parsed.team_id, agentId: parsed.agent_id });
    // A copy: the text is a part of its entry, and would keep all of it.
    this.#known.set(JSON.stringify(parsed), { item });
    return item;
  }
}
