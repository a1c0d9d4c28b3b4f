import { SubjectIssuers } from '@reeve/proxy/mcp';
import type { Agent, Reeve, TokenNeed } from '@reeve/sdk';
import { connect } from '@reeve/sdk';
import { attachedAgent } from '../agent-identity/attached-agent.ts';
import type { GrpcGateway } from '../agent-identity/grpc-gateway.ts';
import type { ResolveAgent } from '../agent-identity/resolve-agent.ts';
import { resolveAgent } from '../agent-identity/resolve-agent.ts';

/**
 * The agent in whose name a proxy acts. The gateway may be away at the start, or refuse the token later; then each call
 * tries again, with the identity as it is then.
 */
export class ActingAgent {
  readonly #request: ResolveAgent;
  #reeve: Reeve | undefined;
  #found: Promise<Agent> | undefined;
  #issuers: SubjectIssuers | undefined;
  #token = '';

  constructor(request: ResolveAgent) {
    this.#request = request;
  }

  readonly find = (): Promise<Agent> => {
    this.#found ??= this.#resolve().catch((error: unknown) => {
      this.#found = undefined;
      throw error;
    });
    return this.#found;
  };

  /** Whether the gateway takes tokens of the issuer as those of users. Throws if it cannot say. */
  readonly takesSubjectsOf = async (issuer: string): Promise<boolean> => {
    await this.find().catch(() => undefined);
    return this.#issuers?.include(issuer, this.#token) ?? false;
  };

  /** Delivers what the gateway must still hear of. */
  async close(): Promise<void> {
    const agent = await this.#found?.catch(() => undefined);
    await agent?.close();
    this.#reeve?.close();
  }

  async #resolve(): Promise<Agent> {
    const client = (gateway: GrpcGateway) => (this.#reeve ??= connect(gateway));
    const resolved = await resolveAgent({ ...this.#request, client });
    const reeve = client(resolved.gateway);
    this.#issuers ??= new SubjectIssuers((token, call) => reeve.identify(token, call));
    this.#token = resolved.token;
    const followed = async (token: string, need: TokenNeed) => {
      const next = await resolved.next(token, need);
      this.#token = next ?? this.#token;
      return next;
    };
    // Each MCP server of a client has a proxy of its own, and all of them act as one agent.
    return attachedAgent(
      reeve,
      { ...resolved, next: followed },
      {
        onConnection: () => {},
        onRevoked: () => (this.#found = undefined),
      },
    );
  }
}
