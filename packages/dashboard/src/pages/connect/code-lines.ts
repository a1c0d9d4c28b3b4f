import { isLocalAddress } from '@reeve/contract/host-name';
import type { Lines, LinesFor } from './lines.ts';
import { joined, tokenMark } from './lines.ts';
import type { Program } from './programs.ts';

const token: Lines = { title: 'Give the agent its token, in its environment', code: `REEVE_AGENT_TOKEN=${tokenMark}` };

/** Whether the clients have to be told about TLS. Without a word, they use it for other machines alone. */
function isTlsTold({ grpcAddr, hasTls }: LinesFor): boolean {
  return hasTls === isLocalAddress(grpcAddr);
}

/** The lines of a program, in its language. */
export function programLines(place: LinesFor, program: Program): readonly Lines[] {
  return program.language === 'python' ? pythonLines(place, program) : typescriptLines(place, program);
}

function typescriptLines(place: LinesFor, { before, acts, install, note }: Program): readonly Lines[] {
  const tls = isTlsTold(place) ? `, tls: ${place.hasTls}` : '';
  const authority = 'If an authority of your own certified this gateway, say tls: { ca } with its certificate in PEM.';
  return [
    token,
    {
      title: 'Ask before each action',
      code: `${before}

const reeve = connect({ address: '${place.grpcAddr}'${tls} });
const agent = await reeve.agent({ token: process.env.REEVE_AGENT_TOKEN ?? '' });

${acts}

await agent.close();
reeve.close();`,
      ...joined(
        `In a checkout of Reeve the SDK is there. After the first release: npm install ${install}.`,
        note,
        place.hasTls ? authority : undefined,
      ),
    },
  ];
}

function pythonLines(place: LinesFor, { before, acts, install, note }: Program): readonly Lines[] {
  const tls = isTlsTold(place) ? `, tls=${place.hasTls ? 'True' : 'False'}` : '';
  const authority =
    'If an authority of your own certified this gateway, say tls=TlsOptions(ca="ca.pem") with its file.';
  return [
    token,
    {
      title: 'Ask before each action',
      code: `${before}

with Reeve("${place.grpcAddr}"${tls}) as reeve:
    agent = reeve.agent()  # REEVE_AGENT_TOKEN
${acts.replaceAll(/^(?=.)/gm, '    ')}`,
      ...joined(
        `In a checkout of Reeve: pip install './clients/python${install}'. After the first release: pip install 'reeve-gateway${install}'.`,
        note,
        place.hasTls ? authority : undefined,
      ),
    },
  ];
}

/** For all other languages: the call itself, by a program that learns the schema from the gateway. */
export function grpcLines({ grpcAddr, hasTls, agent }: LinesFor): readonly Lines[] {
  const request = {
    agentId: { orgId: agent.org_id, teamId: agent.team_id, agentId: agent.agent_id },
    credentialToken: tokenMark,
    actionType: 'TOOL_CALL',
    context: { toolCall: { toolName: 'search_docs' } },
  };
  const [flags, scheme] = hasTls ? ['', 'https'] : [' --http2-prior-knowledge', 'http'];
  const authority = 'If an authority of your own certified this gateway, name its file (PEM) by --cacert FILE.';
  return [
    {
      title: 'Ask before each action',
      // By standard input: every user of a machine sees the arguments of programs.
      code: `npx -y @bufbuild/buf curl --protocol grpc${flags} -d @- \\
  ${scheme}://${grpcAddr}/reeve.v1.PolicyService/CheckAction <<'END'
${JSON.stringify(request, undefined, 2)}
END`,
      ...joined(
        'It is plain gRPC: make a client from the protos in packages/contract/proto. Act on ALLOW and on nothing else, and call CompleteAction afterwards.',
        hasTls ? authority : undefined,
      ),
    },
  ];
}
