export { freeOfCharge } from './govern/costs.ts';
export type { GovernOptions, Governor } from './govern/governor.ts';
export { listServerTools } from './list-server-tools.ts';
export type { ToolHashes, ToolLock } from './lock/tool-lock.ts';
export { hashesOf, lockText, readToolLock, toolsLockedOf } from './lock/tool-lock.ts';
export { runMcp } from './run-mcp.ts';
export { serveMcp } from './serve-mcp.ts';
export type { ServerSpec } from './server-spec.ts';
export { readServers, ServersFileError, urlOf, withoutOurs } from './servers-file.ts';
