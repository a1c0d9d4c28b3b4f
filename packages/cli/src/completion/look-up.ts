import { agentText } from '../command-line/agent-path.ts';
import type { GlobalValues, LookedUp } from '../command-line/command.ts';
import { globalOptions, globalValues } from '../command-line/global-options.ts';
import { flagsOf } from '../command-line/parse-command-line.ts';
import { callableContext } from '../context/active-context.ts';
import { readConfig } from '../context/config-file.ts';
import { reeveFolder } from '../context/reeve-folder.ts';
import { GatewayClient } from '../http/gateway-client.ts';
import type { Shell } from '../shell.ts';
import type { LookUp } from './complete.ts';

/** Nobody waits long for a Tab. */
const patienceMs = 1500;
const most = 200;

/** Looks up names at the gateway of the context that the command line selects. */
export function lookUpAt(shell: Shell): LookUp {
  return async (what, typed) => {
    try {
      if (what === 'context') return [...(await readConfig(reeveFolder(shell))).contexts.keys()].filter(isPlain);
      const context = await callableContext(shell, globalsIn(typed));
      const client = new GatewayClient(context, {
        timeoutMs: patienceMs,
        warn: () => undefined,
        during: (work) => work,
      });
      return (await names(client, what)).filter(isPlain);
    } catch {
      // A failed completion offers nothing.
      return [];
    }
  };
}

async function names(client: GatewayClient, what: Exclude<LookedUp, 'context'>): Promise<string[]> {
  const query = { per_page: most };
  switch (what) {
    case 'op':
      return (await client.call('listOps', { query })).items.map(({ op_id: id }) => id);
    case 'agent':
      return (await client.call('listAgents', { query })).items.map(agentText);
    case 'key':
      return (await client.call('listApiKeys', { query })).items
        .filter(({ revoked_at: revoked }) => revoked === null)
        .map(({ id }) => id);
    case 'approval':
      return (await client.call('listApprovals', { query })).items.map(({ id }) => id);
    case 'grant':
      return (await client.call('listGrants', { query })).items.map(({ id }) => id);
    case 'policy':
      return (await client.call('listPolicies', { query })).items.map(({ name }) => name);
  }
}

/** Names come from agents and end up in a shell, so only plain ones pass. */
function isPlain(name: string): boolean {
  return /^[\w.:/-]+$/.test(name);
}

/** The global options of an unfinished line. */
function globalsIn(typed: readonly string[]): GlobalValues {
  return globalValues((name) => {
    const option = globalOptions[name as keyof typeof globalOptions];
    const flags = flagsOf(name, option);
    return typed.slice(0, -1).flatMap((word, at) => {
      const [flag = '', ...rest] = word.split('=');
      if (!flags.includes(flag)) return [];
      const value = rest.length > 0 ? rest.join('=') : (typed[at + 1] ?? '');
      // A value that is still being typed does not count.
      return at + 1 === typed.length - 1 && rest.length === 0 ? [] : [value];
    });
  });
}
