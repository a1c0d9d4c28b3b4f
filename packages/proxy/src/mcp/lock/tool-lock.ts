import { createHash } from 'node:crypto';
import type { JsonObject } from '../protocol/written-json.ts';
import { isObject } from '../protocol/written-json.ts';
import { canonicalJson } from './canonical-json.ts';

/** The SHA-256 of each tool's definition, for one server. */
export type ToolHashes = Readonly<Record<string, string>>;

/** What a lock file holds, by server. */
export type ToolLock = Readonly<Record<string, ToolHashes>>;

/** A tool as a server lists it. */
export interface ListedTool extends JsonObject {
  readonly name: string;
}

export function isTool(value: unknown): value is ListedTool {
  return isObject(value) && typeof value['name'] === 'string';
}

/** Covers all that a server says of a tool: name, description, schemas, annotations and whatever else there is. */
export function toolHash(tool: ListedTool): string {
  return createHash('sha256').update(canonicalJson(tool)).digest('hex');
}

export function hashesOf(tools: readonly ListedTool[]): ToolHashes {
  const rows = tools.map((tool): [string, string] => [tool.name, toolHash(tool)]);
  return Object.fromEntries(rows.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Reads the content of a lock file. Throws an error that says what is wrong with it. */
export function readToolLock(content: unknown): ToolLock {
  if (!isObject(content) || content['version'] !== 1 || !isObject(content['servers'])) {
    throw new Error('is no lock file of version 1');
  }
  for (const [server, tools] of Object.entries(content['servers'])) {
    const hashes = isObject(tools) ? Object.values(tools) : [undefined];
    const areHashes = hashes.every((hash) => typeof hash === 'string' && /^[0-9a-f]{64}$/.test(hash));
    if (!areHashes) throw new Error(`has something else than the SHA-256 of each tool under servers.${server}`);
  }
  return content['servers'] as ToolLock;
}

/** The tools of one server in a lock. A server that the lock does not name has none. */
export function toolsLockedOf(lock: ToolLock | undefined, server: string): ToolHashes | undefined {
  return lock === undefined ? undefined : ((Object.hasOwn(lock, server) ? lock[server] : undefined) ?? {});
}

/** The content of a lock file. JSON is YAML as well. */
export function lockText(lock: ToolLock): string {
  const servers = Object.fromEntries(Object.entries(lock).sort(([a], [b]) => (a < b ? -1 : 1)));
  return `${JSON.stringify({ version: 1, servers }, undefined, 2)}\n`;
}
