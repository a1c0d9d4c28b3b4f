import type { Input } from '../command-line/command.ts';
import type { ActiveContext } from '../context/active-context.ts';
import { callableContext } from '../context/active-context.ts';
import { note } from '../output/print.ts';
import { withProgress } from '../output/progress.ts';
import type { Shell } from '../shell.ts';
import { GatewayClient } from './gateway-client.ts';

/** A client for the active context. */
export async function connect(shell: Shell, { globals }: Pick<Input, 'globals'>): Promise<GatewayClient> {
  return clientFor(shell, await callableContext(shell, globals), globals.timeout);
}

export function clientFor(shell: Shell, context: ActiveContext, timeoutSecs: number): GatewayClient {
  return new GatewayClient(context, {
    timeoutMs: timeoutSecs * 1000,
    warn: (text) => note(shell, `warning: ${text}`),
    during: (work) => withProgress(shell, (seconds) => `Waiting for ${context.apiUrl} (${seconds} s)`, work),
  });
}
