import { ReeveUnauthenticated } from '@reeve/sdk';
import { lookalikeOf } from '../../json/lookalike.ts';
import type { Message } from '../protocol/message.ts';
import type { JsonObject } from '../protocol/written-json.ts';
import { asResponse, edited, errorMessage, writtenValue } from '../protocol/message.ts';
import { isObject } from '../protocol/written-json.ts';
import type { ToolCatalog } from '../lock/tool-catalog.ts';
import { isTool } from '../lock/tool-lock.ts';
import type { Governor } from './governor.ts';

/**
 * A page of the server's tools as the client may see it: without those that are not as they were locked, and without
 * those that policy denies whatever the arguments. If the gateway is out of reach, there is no list at all.
 */
export async function visibleTools(message: Message, governor: Governor, catalog: ToolCatalog): Promise<Message> {
  const response = asResponse(message);
  const { result } = response === undefined ? {} : (writtenValue(message) as JsonObject);
  const listed = isObject(result) ? result['tools'] : undefined;
  if (response === undefined || !Array.isArray(listed)) return message;
  if (lookalikeOf(Object.keys(result ?? {}), members) !== undefined) {
    return errorMessage(
      response.id,
      -32_000,
      'the MCP server lists tools in a way that readers understand differently',
    );
  }
  const tools = listed.filter(isTool);
  catalog.learn(tools);
  const asLocked = tools.filter((tool) => catalog.isAsLocked(tool)).map(({ name }) => name);
  let denied: ReadonlySet<string>;
  try {
    denied = new Set(governor.showDenied ? [] : await deniedOf(governor, asLocked));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    if (error instanceof ReeveUnauthenticated) return errorMessage(response.id, -32_000, `Denied by policy: ${reason}`);
    if (!governor.failOpen) return errorMessage(response.id, -32_000, `Reeve is not reachable: ${reason}`);
    governor.warn(`fail-open: a list of tools passes as it is: ${reason}`);
    denied = new Set();
  }
  // One by one: a server may list another tool under the name of one that is as it was locked.
  const visible = listed.map((tool) => isTool(tool) && catalog.isAsLocked(tool) && !denied.has(tool.name));
  if (visible.every(Boolean)) return message;
  return edited(message, (value) => {
    const { result } = value;
    if (!isObject(result) || !Array.isArray(result['tools'])) return value;
    return { ...value, result: { ...result, tools: result['tools'].filter((_, at) => visible[at]) } };
  });
}

const members = new Set(['tools']);

/** Of a name that no check can hold, nobody can say whether it is denied. It cannot be called either. */
const longestName = 512;
const namesAtOnce = 100;

async function deniedOf(governor: Governor, names: readonly string[]): Promise<readonly string[]> {
  const [short, long] = [names.filter(fits), names.filter((name) => !fits(name))];
  const denied: string[] = long;
  for (let at = 0; at < short.length; at += namesAtOnce) {
    const agent = await governor.agent();
    denied.push(...(await agent.deniedTools(governor.server, short.slice(at, at + namesAtOnce))));
  }
  return denied;
}

function fits(name: string): boolean {
  return name.length > 0 && name.length <= longestName;
}
