import type { Agent, ChangedTool } from '@reeve/sdk';
import type { Governor } from '../govern/governor.ts';

const reported = new WeakMap<Agent, Set<string>>();
const longestName = 512;
const atOnce = 500;
/** An agent may call names that nobody knows, without end. */
const mostKnown = 20_000;

/** Has the gateway record changed definitions, each once. */
export async function reportChanges(governor: Governor, changed: readonly ChangedTool[]): Promise<void> {
  const { server, warn } = governor;
  try {
    const agent = await governor.agent();
    const known = reported.get(agent) ?? new Set();
    reported.set(agent, known);
    const fresh = changed.filter((change) => change.tool !== '' && !known.has(keyOf(server, change)));
    for (let at = 0; at < fresh.length; at += atOnce) {
      const part = fresh.slice(at, at + atOnce);
      await agent.reportChangedTools(
        server,
        part.map((change) => ({ ...change, tool: change.tool.slice(0, longestName) })),
      );
      if (known.size > mostKnown) known.clear();
      for (const change of part) known.add(keyOf(server, change));
    }
    if (fresh.length > 0) warn(`${fresh.length} tools of ${server} are not as they were locked; they are denied`);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    warn(`tools of ${server} are not as they were locked; they are denied, but this could not be recorded: ${reason}`);
  }
}

function keyOf(server: string, { tool, actual }: ChangedTool): string {
  return JSON.stringify([server, tool, actual]);
}
