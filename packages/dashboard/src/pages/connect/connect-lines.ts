import type { HookHostName } from '@reeve/contract/names';
import { hookHosts } from '@reeve/contract/names';
import { isLocalAddress } from '@reeve/contract/host-name';
import { grpcLines, programLines } from './code-lines.ts';
import type { DoorId } from './door-ids.ts';
import type { Lines, LinesFor } from './lines.ts';
import { tokenMark } from './lines.ts';
import { programs } from './programs.ts';
import { hookLines, mcpHttpLines, mcpStdioLines, modelLines } from './proxy-lines.ts';

/** The exact lines that bring an agent through a door. */
export function linesFor(door: DoorId, place: LinesFor): readonly Lines[] {
  if (hasProgram(door)) return programLines(place, programs[door]);
  if (isHookHost(door)) return hookLines(door, place);
  switch (door) {
    case 'grpc':
      return grpcLines(place);
    case 'mcp-stdio':
      return mcpStdioLines(place);
    case 'mcp-http':
      return mcpHttpLines(place);
    case 'openai':
    case 'anthropic':
      return modelLines(door, place);
  }
}

function isHookHost(door: DoorId): door is HookHostName {
  return Object.hasOwn(hookHosts, door);
}

function hasProgram(door: DoorId): door is keyof typeof programs {
  return Object.hasOwn(programs, door);
}

/** The lines as they are shown: the token is hidden until it is asked for. */
export function shownCode(code: string, token: string | undefined, isRevealed: boolean): string {
  const shown = token === undefined ? 'AGENT_TOKEN' : isRevealed ? token : `${token.slice(0, 4)}${'•'.repeat(12)}`;
  return code.replaceAll(tokenMark, () => shown);
}

/** What stands in the way of agents that use this address, if anything does. */
export function addressWarning(grpcAddr: string, hasTls: boolean, pageHost: string): string | undefined {
  const isOnThisMachine = isLocalAddress(grpcAddr);
  if (isOnThisMachine && !isLocalAddress(`${pageHost}:1`)) {
    return 'This address works on the gateway’s own machine alone. For agents elsewhere, set SVC_GRPC_ADDR to an address that they reach, or SVC_PUBLIC_GRPC_ADDR if there is one already.';
  }
  if (!isOnThisMachine && !hasTls) {
    return 'Agents on other machines connect by TLS, and this gateway has none: set SVC_TLS_CERT and SVC_TLS_KEY, or let a proxy at this address take TLS.';
  }
  return undefined;
}
