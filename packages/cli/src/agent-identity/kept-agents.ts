import type { Entries } from '../context/private-entries.ts';
import { entriesIn, readText } from '../context/private-entries.ts';
import { changePrivateFile } from '../context/private-file.ts';
import type { ReeveFolder } from '../context/reeve-folder.ts';
import { writeYaml } from '../context/write-yaml.ts';
import { isObject } from '../is-object.ts';
import type { AgentName } from './agent-name.ts';
import { agentNameText } from './agent-name.ts';

/** Where the token of an agent is kept: `agents: {<addresses>: {<org/team/agent>: {token}}}` in `~/.reeve/agents.yaml`. */
export interface KeptPlace {
  readonly folder: ReeveFolder;
  readonly addresses: readonly string[];
  readonly agentId: AgentName;
}

const member = 'agents';

/** The kept token of an agent, if there is one. */
export async function keptToken(place: KeptPlace): Promise<string | undefined> {
  return tokenIn(await entriesIn(readText(place.folder, place.folder.agents), member), place);
}

/**
 * Registers an agent and keeps its token. Of several processes at once, one registers and the others take its token:
 * they wait for the lock of the file. `refused` is the kept token that the gateway no longer knows.
 */
export async function registerOnce(
  place: KeptPlace,
  refused: string | undefined,
  register: () => Promise<string>,
): Promise<string> {
  let token: string | undefined;
  await changePrivateFile(place.folder, place.folder.agents, async (text) => {
    const entries = await entriesIn(text, member);
    token = tokenIn(entries, place);
    if (token !== undefined && token !== refused) return undefined;
    token = await register();
    return writeYaml({ [member]: withToken(entries, place, token) });
  });
  if (token === undefined) throw new Error('no token was kept');
  return token;
}

/** The order in which gateways are named makes no difference. */
function gatewayOf({ addresses }: KeptPlace): string {
  return addresses.toSorted().join(',').toLowerCase();
}

function tokenIn(entries: Entries, place: KeptPlace): string | undefined {
  const agents = memberOf(entries, gatewayOf(place));
  const entry = isObject(agents) ? memberOf(agents, agentNameText(place.agentId)) : undefined;
  const token = isObject(entry) ? entry['token'] : undefined;
  return typeof token === 'string' && token !== '' ? token : undefined;
}

function withToken(entries: Entries, place: KeptPlace, token: string): Entries {
  const gateway = gatewayOf(place);
  const agents = memberOf(entries, gateway);
  const others = isObject(agents) ? agents : {};
  return { ...entries, [gateway]: { ...others, [agentNameText(place.agentId)]: { token } } };
}

function memberOf(map: Entries, name: string): unknown {
  return Object.hasOwn(map, name) ? map[name] : undefined;
}
