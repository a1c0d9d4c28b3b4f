import type { AgentId } from '../kernel/index.ts';
import { checkLength, invalid, longest } from '../kernel/index.ts';
import { decisionCost, Evaluation, ToolFacts } from '../policy/index.ts';
import { authenticateAgent, linksOf } from '../tenancy/index.ts';
import { longestStretch } from './pace.ts';
import type { Decisions } from './decisions.ts';
import { agentsAbove, coversNot } from './judge-delegation.ts';

export interface PreviewRequest {
  readonly agentId: AgentId | undefined;
  readonly token: string;
  readonly source: string;
  readonly tools: readonly string[];
}

const mostTools = 1000;
/** What all tools of one call may cost together: about a quarter of a second. */
const mostCost = 100 * decisionCost;

/**
 * The tools that policy denies to the agent, whatever the arguments of the call. It is about policy alone: a suspended
 * agent gets the same answer. It decides and records nothing. A long list yields to others, as a batch does. Once it has
 * cost too much, the rest of the tools is not looked at and not named.
 */
export async function previewTools(gov: Decisions, request: PreviewRequest): Promise<readonly string[]> {
  const { source, tools } = request;
  checkLength('tool_source', source, longest.name);
  if (tools.length > mostTools) throw invalid('tool_names', `must be at most ${mostTools}`);
  for (const tool of tools) checkLength('tool_names', tool, longest.name);
  const agent = authenticateAgent(gov, request.agentId, request.token);
  const { record, lineage } = agent;
  // One set for the whole answer, even if another one comes into force meanwhile.
  const { policies } = gov;
  const links = linksOf(gov.directory, agent);
  const above = agentsAbove(links);
  const isDenied = (facts: ToolFacts, evaluation: Evaluation, tool: string): boolean => {
    if (policies.deniesEveryCall(record.id, facts, evaluation)) return true;
    if (coversNot(links, tool, evaluation)) return true;
    return above.some(({ record: each, lineage: { depth } }) => {
      return policies.deniesEveryCall(each.id, new ToolFacts(each, depth, tool, source), evaluation);
    });
  };
  const denied: string[] = [];
  let cost = 0;
  let stretch = gov.clock.elapsed();
  for (const tool of new Set(tools)) {
    const facts = new ToolFacts(record, lineage.depth, tool, source);
    const evaluation = new Evaluation(facts.subject);
    if (isDenied(facts, evaluation, tool)) denied.push(tool);
    cost += evaluation.cost;
    if (cost > mostCost) break;
    if (gov.clock.elapsed() - stretch < longestStretch) continue;
    await gov.journal.nextTurn();
    stretch = gov.clock.elapsed();
  }
  return denied;
}
