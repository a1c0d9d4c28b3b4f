import type { Entries } from '../context/private-entries.ts';
import { entriesIn, readText } from '../context/private-entries.ts';
import { changePrivateFile } from '../context/private-file.ts';
import type { ReeveFolder } from '../context/reeve-folder.ts';
import { writeYaml } from '../context/write-yaml.ts';
import { isObject } from '../is-object.ts';
import type { AgentName } from './agent-name.ts';
import { agentNameText } from './agent-name.ts';

/** When a token ends, and how long such tokens work. */
export interface TokenLife {
  readonly expiresAt: Date;
  readonly ttlSecs: number;
}

export interface KeptToken {
  readonly token: string;
  /** Undefined if it works always, or nobody knows. */
  readonly life: TokenLife | undefined;
}

/**
 * Where the token of an agent is kept: `agents: {<addresses>: {<org/team/agent>: {token, expires_at, ttl_secs}}}` in
 * `~/.reeve/agents.yaml`.
 */
export interface KeptPlace {
  readonly folder: ReeveFolder;
  readonly addresses: readonly string[];
  readonly agentId: AgentName;
}

const member = 'agents';

/** The kept token of an agent, if there is one. */
export async function keptToken(place: KeptPlace): Promise<KeptToken | undefined> {
  return tokenIn(await entriesIn(readText(place.folder, place.folder.agents), member), place);
}

/**
 * Gets a token in place of a kept one, or of none, and keeps it. Of several processes at once, one gets it and the others
 * take it: they wait for the lock of the file.
 */
export async function replaceOnce(
  place: KeptPlace,
  old: string | undefined,
  get: () => Promise<KeptToken>,
): Promise<KeptToken> {
  let kept: KeptToken | undefined;
  await changePrivateFile(place.folder, place.folder.agents, async (text) => {
    const entries = await entriesIn(text, member);
    kept = tokenIn(entries, place);
    if (kept !== undefined && kept.token !== old) return undefined;
    kept = await get();
    return writeYaml({ [member]: withToken(entries, place, kept) });
  });
  if (kept === undefined) throw new Error('no token was kept');
  return kept;
}

/** Whether two thirds of the life are over. */
export function isDue({ life }: KeptToken): boolean {
  return life !== undefined && life.expiresAt.getTime() - Date.now() < (life.ttlSecs * 1000) / 3;
}

/** The order in which gateways are named makes no difference. */
function gatewayOf({ addresses }: KeptPlace): string {
  return addresses.toSorted().join(',').toLowerCase();
}

function tokenIn(entries: Entries, place: KeptPlace): KeptToken | undefined {
  const agents = memberOf(entries, gatewayOf(place));
  const entry = isObject(agents) ? memberOf(agents, agentNameText(place.agentId)) : undefined;
  const { token, expires_at: end, ttl_secs: ttlSecs } = isObject(entry) ? entry : {};
  if (typeof token !== 'string' || token === '') return undefined;
  const expiresAt = new Date(typeof end === 'string' ? end : Number.NaN);
  const isKnown = !Number.isNaN(expiresAt.getTime()) && typeof ttlSecs === 'number' && ttlSecs > 0;
  return { token, life: isKnown ? { expiresAt, ttlSecs } : undefined };
}

function withToken(entries: Entries, place: KeptPlace, { token, life }: KeptToken): Entries {
  const gateway = gatewayOf(place);
  const agents = memberOf(entries, gateway);
  const others = isObject(agents) ? agents : {};
  const ends = life === undefined ? {} : { expires_at: life.expiresAt.toISOString(), ttl_secs: life.ttlSecs };
  return { ...entries, [gateway]: { ...others, [agentNameText(place.agentId)]: { token, ...ends } } };
}

function memberOf(map: Entries, name: string): unknown {
  return Object.hasOwn(map, name) ? map[name] : undefined;
}
