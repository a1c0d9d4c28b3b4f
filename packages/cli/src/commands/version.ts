import manifest from '../../package.json' with { type: 'json' };
import type { GlobalValues } from '../command-line/command.ts';
import { defineCommand } from '../command-line/command.ts';
import { callableContext } from '../context/active-context.ts';
import { clientFor } from '../http/connect.ts';
import { print } from '../output/print.ts';
import { cleanText } from '../output/clean-text.ts';
import type { Shell } from '../shell.ts';

/** The answer must come quickly. */
const patienceSecs = 3;

/** `reeve --version`: the version of this command and of its gateway, if it is reachable. */
export async function showVersion(shell: Shell, globals: GlobalValues): Promise<number> {
  const { version } = manifest;
  const gateway = await gatewayVersion(shell, globals);
  print(shell, globals.output, { version, gateway }, () => {
    const beside =
      gateway.version === null ? `not known: ${gateway.reason}` : `${cleanText(gateway.version)} (${gateway.api_url})`;
    return `reeve ${version}\ngateway ${beside}`;
  });
  return 0;
}

export const versionCommand = defineCommand({
  details: ['Data: {version, gateway: {api_url, version, reason}}. The same as "reeve --version".'],
  args: {},
  options: {},
  examples: [['reeve version', 'this command, and the gateway of the context']],
  run: (input, shell) => showVersion(shell, input.globals),
});

interface GatewayVersion {
  readonly api_url: string | null;
  readonly version: string | null;
  /** Why the version is unknown. */
  readonly reason?: string;
}

async function gatewayVersion(shell: Shell, globals: GlobalValues): Promise<GatewayVersion> {
  let url: string | null = null;
  try {
    const context = await callableContext(shell, globals);
    url = context.apiUrl;
    // The route is public, so nothing is sent along and no session is renewed.
    const { session: _session, apiKey: _apiKey, ...place } = context;
    const client = clientFor(
      shell,
      { ...place, session: undefined, apiKey: undefined },
      Math.min(patienceSecs, globals.timeout),
    );
    const { version } = await client.call('readyz', {});
    return {
      api_url: url,
      version: typeof version === 'string' ? version : null,
      ...(typeof version === 'string' ? {} : { reason: 'it does not say' }),
    };
  } catch (error) {
    return { api_url: url, version: null, reason: cleanText(error instanceof Error ? error.message : String(error)) };
  }
}
