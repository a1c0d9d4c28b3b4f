import { isLocalAddress } from '@reeve/contract/host-name';
import type { DoorId } from './door-ids.ts';

/** Where the agent and the gateway are. */
export interface LinesFor {
  readonly grpcAddr: string;
  readonly hasTls: boolean;
  /** Names files, so that two agents on one machine do not share one. */
  readonly agentId: string;
}

export interface Lines {
  /** What to do with them. */
  readonly title: string;
  /** The token stands where `tokenMark` does. */
  readonly code: string;
  readonly note?: string;
}

/** Stands for the token. No line contains it otherwise. */
export const tokenMark = '{{token}}';

/** Where the proxies listen by default. Both may run on one machine. */
const modelsAt = '127.0.0.1:8090';
const mcpAt = '127.0.0.1:8091';

/** The exact lines that bring an agent through a door. */
export function linesFor(door: DoorId, place: LinesFor): readonly Lines[] {
  switch (door) {
    case 'sdk':
      return sdkLines(place);
    case 'mcp-stdio':
      return mcpStdioLines(place);
    case 'mcp-http':
      return mcpHttpLines(place);
    case 'openai':
    case 'anthropic':
      return modelLines(door, place);
    case 'claude-code':
    case 'codex':
    case 'cursor':
    case 'gemini-cli':
      return hookLines(door, place);
  }
}

/** No public authority certifies the names of a machine itself. So these lines need the file, and others may. */
function authorityOf({ grpcAddr, hasTls }: LinesFor): Authority {
  const isPrivate = hasTls && isLocalAddress(grpcAddr);
  return {
    flag: isPrivate ? ` --grpc-ca ${caFile}` : '',
    env: isPrivate ? { REEVE_GRPC_CA: caFile } : {},
    noteOf: (option) => {
      if (isPrivate) return `“${caFile}” stands for the file of the authority that certified this gateway.`;
      return hasTls
        ? `If an authority of your own certified this gateway, name its file (PEM) by ${option}.`
        : undefined;
    },
  };
}

interface Authority {
  readonly flag: string;
  readonly env: Readonly<Record<string, string>>;
  /** What to say of the authority beside lines that take this option. */
  noteOf(option: string): string | undefined;
}

const caFile = '/etc/reeve/ca.pem';

function joined(...notes: readonly (string | undefined)[]): Pick<Lines, 'note'> {
  const said = notes.filter((note) => note !== undefined);
  return said.length === 0 ? {} : { note: said.join(' ') };
}

function sdkLines({ grpcAddr, hasTls }: LinesFor): readonly Lines[] {
  // Without the option, the SDK uses TLS for other machines alone.
  const tls = hasTls === isLocalAddress(grpcAddr) ? `, tls: ${hasTls}` : '';
  const note = 'If an authority of your own certified this gateway, say tls: { ca } with its certificate in PEM.';
  return [
    { title: 'Give the agent its token, in its environment', code: `REEVE_AGENT_TOKEN=${tokenMark}` },
    {
      title: 'Ask before each action',
      code: `import { connect } from '@reeve/sdk';

const reeve = connect({ address: '${grpcAddr}'${tls} });
const agent = await reeve.agent({ token: process.env.REEVE_AGENT_TOKEN ?? '' });

await agent.run({ tool: 'search_docs', args: { q: 'refunds' } }, async () => {
  // what the tool does
});`,
      ...joined(hasTls ? note : undefined),
    },
  ];
}

function mcpStdioLines(place: LinesFor): readonly Lines[] {
  const authority = authorityOf(place);
  const server = {
    command: 'reeve',
    args: ['mcp', 'run', '--server', 'files', '--', 'npx', '-y', '@modelcontextprotocol/server-filesystem', '.'],
    env: { REEVE_GRPC_ADDR: place.grpcAddr, ...authority.env, REEVE_AGENT_TOKEN: tokenMark },
  };
  return [
    {
      title: 'Put this into the configuration of the MCP client',
      code: JSON.stringify({ mcpServers: { files: server } }, undefined, 2),
      ...joined(
        '“files” and the command after “--” stand for your own server. The server does not get the token.',
        authority.noteOf('REEVE_GRPC_CA'),
      ),
    },
  ];
}

function mcpHttpLines(place: LinesFor): readonly Lines[] {
  const authority = authorityOf(place);
  const server = {
    type: 'http',
    url: `http://${mcpAt}/mcp/files`,
    headers: { Authorization: `Bearer ${tokenMark}` },
  };
  return [
    {
      title: 'Name the servers in mcp.yaml',
      code: `servers:
  files:
    command: npx
    args: [-y, '@modelcontextprotocol/server-filesystem', .]`,
      note: '“files” stands for your own server. A server over HTTP has a url in place of the command.',
    },
    {
      title: 'Start the proxy',
      code: `reeve mcp serve --config mcp.yaml --http ${mcpAt} --grpc-addr ${place.grpcAddr}${authority.flag}`,
      ...joined(authority.noteOf('--grpc-ca FILE')),
    },
    {
      title: 'Put this into the configuration of the MCP client',
      code: JSON.stringify({ mcpServers: { files: server } }, undefined, 2),
    },
  ];
}

const upstreams = {
  openai: {
    url: 'https://api.openai.com/v1',
    key: 'OPENAI_API_KEY',
    models: "['gpt-*', 'o[0-9]*', 'text-embedding-*']",
    base: `OPENAI_BASE_URL=http://${modelsAt}/v1`,
  },
  anthropic: {
    url: 'https://api.anthropic.com',
    key: 'ANTHROPIC_API_KEY',
    models: "['claude-*']",
    base: `ANTHROPIC_BASE_URL=http://${modelsAt}`,
  },
} as const;

function modelLines(kind: 'openai' | 'anthropic', place: LinesFor): readonly Lines[] {
  const authority = authorityOf(place);
  const { url, key, models, base } = upstreams[kind];
  return [
    {
      title: 'Name the provider in models.yaml',
      code: `upstreams:
  - name: ${kind}
    kind: ${kind}
    base_url: ${url}
    api_key_env: ${key}
    models: ${models}`,
      note: `The provider’s own key stays in ${key} of the proxy. Agents never see it.`,
    },
    {
      title: 'Start the proxy',
      code: `reeve llm serve --config models.yaml --http ${modelsAt} --grpc-addr ${place.grpcAddr}${authority.flag}`,
      ...joined(authority.noteOf('--grpc-ca FILE')),
    },
    { title: 'Give the agent this environment', code: `${base}\n${key}=${tokenMark}` },
  ];
}

const afterwards: Readonly<Record<Exclude<DoorId, 'sdk' | `mcp-${string}` | 'openai' | 'anthropic'>, string>> = {
  'claude-code': 'Sessions that are open take the hook over; “/hooks” lists it.',
  codex: 'Codex skips hooks without a word until they are trusted: start “codex”, type “/hooks” and trust this one.',
  cursor: 'Cursor takes the file over when it is saved. The tab “Hooks” of its settings lists the hook.',
  'gemini-cli': 'Start Gemini CLI again. “/hooks panel” lists the hook.',
};

function hookLines(host: keyof typeof afterwards, place: LinesFor): readonly Lines[] {
  const authority = authorityOf(place);
  const file = `~/.reeve/${place.agentId}.token`;
  return [
    {
      title: 'Make a file for the token that only you can read',
      code: `mkdir -p ~/.reeve && (umask 077; cat > ${file})`,
    },
    { title: 'Paste the token there, then press Enter and Ctrl D', code: tokenMark },
    {
      title: 'Install the hook',
      code: `reeve hook install ${host} --agent-token-file ${file} --grpc-addr ${place.grpcAddr}${authority.flag}`,
      ...joined(authority.noteOf('--grpc-ca FILE'), afterwards[host]),
    },
  ];
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
