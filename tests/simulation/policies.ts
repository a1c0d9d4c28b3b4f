import { Broken } from './broken.ts';
import { flowRules } from './flow-rules.ts';
import type { JudgedEntry } from './judged-entry.ts';

/** In millionths of a USD, for a day. */
export const caps = { global: 400e6, org: 140e6, team: 60e6, agent: 30e6 };

/** Tight enough that agents meet them now and then. */
export const rates = [
  { per: 'agent', windowMs: 3000, max: 6 },
  { per: 'org', windowMs: 20_000, max: 60 },
] as const;

/** Whose verdicts count for a payment, by their roles. */
export const approvers: readonly string[] = ['owner', 'admin'];

interface Bound {
  readonly denied: string;
  readonly asked: string;
}

/** What some agents may not do, and what they are asked about. Others act for them. */
const bounds: Readonly<Record<string, Bound>> = {
  'acme/red/bot-0': { denied: 'write', asked: 'send' },
  'acme/blue/bot-0': { denied: 'search', asked: 'fetch' },
  'acme/red/sub-0': { denied: 'fetch', asked: 'write' },
};

/** What every gateway is started with. */
export const filePolicy = `
name: caps
default: allow
rules:
  - { name: ask, effect: require_approval, tools: [ask] }
  - { name: "no", effect: deny, tools: ["no"] }
  - name: pay
    effect: require_approval
    tools: [pay]
    approvals: { count: 2, ttl_secs: 60, by: { roles: ${JSON.stringify(approvers)} }, not_user: true }
  - { name: every-third, effect: deny, tools: [fetch, write], when: run.checks % 3 == 2 }
${flowRules()}pricing: { m: { input_per_mtok_usd: 1, output_per_mtok_usd: 1 } }
budget:
  daily_limit_usd: ${caps.global / 1e6}
  org_daily_limit_usd: ${caps.org / 1e6}
  team_daily_limit_usd: ${caps.team / 1e6}
  agent_daily_limit_usd: ${caps.agent / 1e6}
rates:
${rates.map(({ per, windowMs, max }) => `  - { per: ${per}, window_secs: ${windowMs / 1000}, max: ${max} }`).join('\n')}
${Object.entries(bounds).map(boundsOf).join('')}`;

function boundsOf([agent, { denied, asked }]: readonly [string, Bound]): string {
  const rule = (name: string, effect: string, tool: string) =>
    `  - { name: ${name}, effect: ${effect}, tools: [${tool}] }\n`;
  const rules = `${rule('never', 'deny', denied)}${rule('ask', 'require_approval', asked)}`;
  return `---\nname: of-${agent.replaceAll('/', '-')}\nscope: agent:${agent}\nrules:\n${rules}`;
}

/** What files forbid an agent, neither it nor anybody who acts for it is allowed. */
export function requireAllowed({ seq, decision, payload }: JudgedEntry, agent: string): void {
  const { action, grant_id: grant } = payload;
  const tool = action?.tool ?? '';
  const { denied, asked } = bounds[agent] ?? {};
  if (tool === denied || tool === 'no')
    throw new Broken(`entry ${seq}: ${tool} is allowed, and ${agent} may not use it`);
  const isAsked = tool !== '' && [asked, 'ask', 'pay'].includes(tool);
  if (isAsked && decision === 'allow' && grant === undefined) {
    throw new Broken(`entry ${seq}: ${tool} is allowed without people, who must be asked for ${agent}`);
  }
}

/** What people store while agents work: some of the tools are denied. */
export function storedPolicy(name: string, denied: readonly string[]): string {
  return `name: ${name}\nrules:\n  - { name: stop, effect: deny, tools: ${JSON.stringify(denied)} }\n`;
}

export const tools = ['search', 'fetch', 'write', 'send', 'ask', 'no', 'pay', 'read', 'edit'] as const;
