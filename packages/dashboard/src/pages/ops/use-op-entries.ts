import { useRoute } from '../../api/use-route.ts';
import type { Op } from './op.ts';

const perPage = 200;

/** The audit log entries of one operation, newest first, of all agents with that id if the agent is unknown. */
export function useOpEntries(opId: string, agent: Op['agent'] | undefined) {
  return useRoute('listLogs', {
    query: { op_id: opId, per_page: perPage, ...(agent === undefined ? {} : { agent_id: agent.agent_id }) },
  });
}
