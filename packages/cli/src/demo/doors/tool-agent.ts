import { join } from 'node:path';
import { pause } from '../demo-agent.ts';
import type { DoorPlace } from './door-process.ts';
import { ownCommand } from '../../own-command.ts';
import { DoorProcess } from './door-process.ts';
import { McpClient } from './mcp-client.ts';

/** What the help desk does, over and over: some is plain, some is held for a person, some is denied. */
const calls: readonly (readonly [tool: string, args: object])[] = [
  ['list_tickets', {}],
  ['answer_ticket', { ticket: 4711, text: 'It comes tomorrow.' }],
  ['close_ticket', { ticket: 4712, reason: 'refunded' }],
  ['export_customers', { format: 'csv' }],
  ['answer_ticket', { ticket: 4713, text: 'We look into it.' }],
];

/** An agent whose tools are those of an MCP server, behind `reeve mcp run`. */
export async function useTools(place: DoorPlace, token: string, signal: AbortSignal): Promise<void> {
  const lock = ['--lock', join(place.folder, 'mcp.lock'), '--write-lock'];
  const server = [...ownCommand(), 'demo-part', 'tickets'];
  const env = { ...place.env, REEVE_AGENT_TOKEN: token };
  const proxy = new DoorProcess(['mcp', 'run', '--server', 'tickets', ...lock, '--', ...server], { ...place, env });
  const end = () => void proxy.end();
  signal.addEventListener('abort', end);
  try {
    const client = new McpClient(proxy);
    await client.introduce('help-desk');
    for (let at = 0; !signal.aborted; at++) {
      const [tool, args] = calls[at % calls.length] ?? ['list_tickets', {}];
      await client.call(tool, args);
      await pause(1.5 + Math.random() * 2, signal);
    }
  } finally {
    signal.removeEventListener('abort', end);
    await proxy.end();
  }
}
