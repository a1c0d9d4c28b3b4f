import { nameIn } from './document-name.ts';

export type PackName = 'starter' | 'coding-agents' | 'flow' | 'mcp' | 'models';

/** The sets of documents to begin with, as `reeve policy init` writes them. */
export const packTitles: Readonly<Record<PackName, readonly [title: string, explanation: string]>> = {
  starter: ['Agents in general', 'Guardrails, approvals for what is dangerous, everyday work, budgets, and a trial.'],
  'coding-agents': ['Coding agents', 'For agents that come by hooks: commands, files and the network.'],
  flow: ['What flows from call to call', 'Labels for what a run has read, and rules on what may leave after that.'],
  mcp: ['MCP servers', 'For the tools of MCP servers: looking is allowed, the rest is asked for or denied.'],
  models: ['Model calls', 'Which models may be called, with caps.'],
};

export interface PackDocument {
  readonly name: string;
  readonly source: string;
}

/** The documents of a pack, those that allow most last: nothing is allowed before what guards it is in force. */
export function documentsOf(sources: readonly string[]): PackDocument[] {
  const allows = ({ source }: PackDocument) => source.match(/^ *(?:- )?effect: allow\b/gm)?.length ?? 0;
  return sources
    .map((source) => {
      const name = nameIn(source);
      if (name === undefined) throw new Error('A document of the pack has no name.');
      return { name, source };
    })
    .sort((a, b) => allows(a) - allows(b));
}
