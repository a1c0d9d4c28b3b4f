/** In millionths of a USD, for a day. */
export const caps = { global: 400e6, org: 140e6, team: 60e6, agent: 30e6 };

/** Tight enough that agents meet them now and then. */
export const rates = [
  { per: 'agent', windowMs: 3000, max: 6 },
  { per: 'org', windowMs: 20_000, max: 60 },
] as const;

/** What every gateway is started with. */
export const filePolicy = `
name: caps
default: allow
rules:
  - { name: ask, effect: require_approval, tools: [ask] }
  - { name: "no", effect: deny, tools: ["no"] }
pricing: { m: { input_per_mtok_usd: 1, output_per_mtok_usd: 1 } }
budget:
  daily_limit_usd: ${caps.global / 1e6}
  org_daily_limit_usd: ${caps.org / 1e6}
  team_daily_limit_usd: ${caps.team / 1e6}
  agent_daily_limit_usd: ${caps.agent / 1e6}
rates:
${rates.map(({ per, windowMs, max }) => `  - { per: ${per}, window_secs: ${windowMs / 1000}, max: ${max} }`).join('\n')}
`;

/** What people store while agents work: some of the tools are denied. */
export function storedPolicy(name: string, denied: readonly string[]): string {
  return `name: ${name}\nrules:\n  - { name: stop, effect: deny, tools: ${JSON.stringify(denied)} }\n`;
}

export const tools = ['search', 'fetch', 'write', 'send', 'ask', 'no'] as const;
