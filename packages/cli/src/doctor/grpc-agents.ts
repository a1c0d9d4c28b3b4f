import type { ClientHttp2Session, IncomingHttpHeaders } from 'node:http2';
import { connect, constants } from 'node:http2';
import {
  ActionType,
  CheckActionRequest,
  CheckActionResponse,
  Decision,
  DeregisterAgentRequest,
  DeregisterAgentResponse,
  paths,
  RegisterAgentRequest,
  RegisterAgentResponse,
} from '@reeve/contract';
import type { AgentPort } from '../tenant-probe/ports.ts';

const callMs = 20_000;
const noReply = 'the gRPC port does not answer';

interface Codec<Message> {
  encode(message: Message): { finish(): Uint8Array };
  decode(bytes: Uint8Array): Message;
}

/** The agent side of the tenant probe, over bare HTTP/2. Three unary calls need no library. */
export class GrpcAgents implements AgentPort, Disposable {
  readonly #session: ClientHttp2Session;

  private constructor(session: ClientHttp2Session) {
    this.#session = session;
    session.on('error', () => undefined);
  }

  /** Connects. Rejects if nobody answers. */
  static open(address: string, hasTls: boolean): Promise<GrpcAgents> {
    return new Promise((resolve, reject) => {
      const session = connect(`${hasTls ? 'https' : 'http'}://${address}`);
      const timer = setTimeout(() => session.destroy(new Error(noReply)), 3000);
      const settle = (act: () => void) => () => {
        clearTimeout(timer);
        act();
      };
      session.once('error', (error) => settle(() => reject(error))());
      // Any HTTP/2 peer sends settings.
      session.once(
        'remoteSettings',
        settle(() => resolve(new GrpcAgents(session))),
      );
      session.once(
        'close',
        settle(() => reject(new Error(noReply))),
      );
    });
  }

  readonly registerAgent: AgentPort['registerAgent'] = async (credential, { id, parent, name }) => {
    const message = {
      agentId: id,
      credentialToken: '',
      name,
      framework: '',
      version: '',
      parentAgentId: parent,
      metadata: {},
      toolNames: [],
    };
    const headers = { authorization: `Bearer ${credential}` };
    const answer = await this.#call(paths.registerAgent, RegisterAgentRequest, RegisterAgentResponse, message, headers);
    return { token: answer.credentialToken };
  };

  readonly check: AgentPort['check'] = async (agent, about = { runId: '', opId: undefined }) => {
    const [traceId = '', spanId = ''] = about.opId?.split(':') ?? [];
    const { decision, opId } = await this.#call(paths.checkAction, CheckActionRequest, CheckActionResponse, {
      agentId: agent.id,
      credentialToken: agent.token,
      traceId,
      spanId,
      actionType: ActionType.TOOL_CALL,
      context: {
        action: {
          $case: 'toolCall',
          value: { toolName: 'reeve-doctor', toolSource: '', argsJson: new Uint8Array(), targetUrl: '' },
        },
      },
      callerAgentId: undefined,
      estimatedCostMicros: undefined,
      runId: about.runId,
      summary: 'tenant probe of reeve doctor',
    });
    return { decision: decisionNames[decision] ?? 'deny', opId };
  };

  readonly deregisterAgent: AgentPort['deregisterAgent'] = async (agent) => {
    const message = { agentId: agent.id, credentialToken: agent.token, reason: 'tenant probe' };
    await this.#call(paths.deregisterAgent, DeregisterAgentRequest, DeregisterAgentResponse, message);
  };

  #call<Request, Response>(
    path: string,
    request: Codec<Request>,
    response: Codec<Response>,
    message: Request,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Response> {
    const body = request.encode(message).finish();
    return new Promise((resolve, reject) => {
      const stream = this.#session.request({
        ':method': 'POST',
        ':path': path,
        'content-type': 'application/grpc',
        te: 'trailers',
        ...headers,
      });
      const chunks: Buffer[] = [];
      let status: string | undefined;
      let words = '';
      const read = (given: IncomingHttpHeaders) => {
        status ??= [given['grpc-status'] ?? []].flat()[0];
        words = [given['grpc-message'] ?? words].flat()[0] ?? '';
      };
      stream.setTimeout(callMs, () => stream.close(constants.NGHTTP2_CANCEL));
      stream.on('response', read).on('trailers', read);
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('error', reject);
      stream.on('close', () => {
        if (status === '0') resolve(response.decode(Buffer.concat(chunks).subarray(framing)));
        else reject(new Error(status === undefined ? noReply : `gRPC status ${status}: ${words}`));
      });
      stream.end(framed(body));
    });
  }

  [Symbol.dispose](): void {
    this.#session.destroy();
  }
}

/** The header of each message: one byte for "not compressed", four for the length. */
const framing = 5;

function framed(body: Uint8Array): Buffer {
  const frame = Buffer.alloc(framing + body.byteLength);
  frame.writeUInt32BE(body.byteLength, 1);
  frame.set(body, framing);
  return frame;
}

const decisionNames: Readonly<Record<number, 'allow' | 'deny' | 'pending'>> = {
  [Decision.ALLOW]: 'allow',
  [Decision.DENY]: 'deny',
  [Decision.PENDING]: 'pending',
};
