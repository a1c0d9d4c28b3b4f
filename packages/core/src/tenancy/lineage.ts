/** Who stands above an agent, as every audit entry about it tells. */
export interface Lineage {
  readonly agent_id: string;
  readonly depth: number;
  readonly org_id: string | null;
  readonly parent_agent_id: string | null;
  readonly root_agent_id: string;
  readonly team_id: string;
}
