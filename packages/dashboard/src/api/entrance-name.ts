import type { Door, Entrance } from '@reeve/contract/names';
import type { Answer } from './send.ts';

type Via = Answer<'getOp'>['via'];

const names: Readonly<Record<Entrance, readonly [label: string, title: string]>> = {
  sdk: ['SDK', 'The agent asks by itself'],
  mcp: ['MCP', 'The MCP proxy asks for it'],
  model: ['Model', 'The model proxy asks for it'],
  hook: ['Hook', 'A hook of its host asks for it'],
};

/** A door in a word or two. */
export function entranceName(entrance: Entrance): string {
  return names[entrance][0];
}

/** Who asks at this door. */
export function entranceTitle(entrance: Entrance): string {
  return names[entrance][1];
}

/** How an action came, within a sentence. */
export function entranceWords(via: Via): string {
  if (via === null) return 'by the SDK';
  const door = { mcp: 'by MCP', model: 'by the model proxy', hook: 'by a hook' }[via.door];
  return via.name === '' ? door : `${door} (${via.name})`;
}

/** What is behind a door, as the agent says. */
export const behindDoor: Readonly<Record<Door, string>> = { mcp: 'Server', model: 'Upstream', hook: 'Host' };
