import type { AgentTokens } from '@reeve/proxy/mcp';
import { AgentTokenMissing } from '@reeve/proxy/mcp';
import { ReeveTokenInUse } from '@reeve/sdk';
import type { AgentName } from '../agent-identity/agent-name.ts';
import { parseAgentName } from '../agent-identity/agent-name.ts';
import type { GrpcGateway } from '../agent-identity/grpc-gateway.ts';
import type { KeptToken } from '../agent-identity/kept-agents.ts';
import { isDue, keptToken, replaceOnce } from '../agent-identity/kept-agents.ts';
import type { RegisterAs } from '../agent-identity/register-agent.ts';
import { enroll, isKnownToken, registerAgent, registrarKey, renewToken } from '../agent-identity/register-agent.ts';
import { reeveFolder } from '../context/reeve-folder.ts';
import { newSharedToken, sharedTokenOf } from './shared-agent-token.ts';

/** For so long a token that is missing is not looked for again. */
const missingMs = 5000;

/**
 * The tokens of the agents that callers of `mcp serve` act as. An agent that is not registered is registered once, and
 * its token kept in `~/.reeve/agents.yaml`. The token of one that is registered is never replaced: whoever acts with it
 * would be cut off by a stranger's sign-in. Replicas that share keys make the token of them. They keep it nowhere: it would
 * outlive the keys.
 */
export class ServedAgents implements AgentTokens {
  readonly #as: RegisterAs;
  readonly #gateway: GrpcGateway;
  readonly #warn: (line: string) => void;
  readonly #keys: readonly Buffer[];
  readonly #since = Date.now();
  readonly #found = new Map<string, Promise<KeptToken>>();

  constructor(as: RegisterAs, gateway: GrpcGateway, warn: (line: string) => void, keys: readonly Buffer[] = []) {
    this.#keys = keys;
    this.#as = as;
    this.#gateway = gateway;
    this.#warn = warn;
  }

  async find(agent: string): Promise<string> {
    const known = this.#found.get(agent) ?? this.#look(agent);
    const kept = await known;
    if (!isDue(kept)) return kept.token;
    const newer = this.#found.get(agent);
    return (await (newer === undefined || newer === known ? this.#look(agent) : newer)).token;
  }

  #look(agent: string): Promise<KeptToken> {
    const found = this.#resolve(agent);
    this.#found.set(agent, found);
    found.catch((error: unknown) => {
      this.#warn(error instanceof Error ? error.message : String(error));
      setTimeout(() => {
        if (this.#found.get(agent) === found) this.#found.delete(agent);
      }, missingMs).unref();
    });
    return found;
  }

  forget(agent: string, token: string): void {
    const known = this.#found.get(agent);
    void known?.then(
      (found) => {
        if (found.token === token && this.#found.get(agent) === known) this.#found.delete(agent);
      },
      () => {},
    );
  }

  async #resolve(agent: string): Promise<KeptToken> {
    const agentId = parseAgentName(agent, 'oauth.agents');
    const place = { folder: reeveFolder(this.#as.shell), addresses: this.#gateway.addresses, agentId };
    const kept = await keptToken(place);
    const [key] = this.#keys;
    const shared = await (key === undefined ? undefined : this.#findShared(key, agentId))?.catch((error: unknown) => {
      // Somebody may have put a token there for want of a key to register with.
      if (kept === undefined) throw error;
      return undefined;
    });
    if (shared !== undefined) return { token: shared, life: undefined };
    const isKnown = kept !== undefined && (await isKnownToken(this.#gateway, kept.token));
    if (isKnown && isDue(kept)) {
      return replaceOnce(place, kept.token, () => renewToken(kept, this.#gateway)).catch(() => kept);
    }
    if (isKnown) return kept;
    try {
      return await replaceOnce(place, kept?.token, () =>
        registerAgent({ ...this.#as, onlyIfNew: true }, agentId, this.#gateway),
      );
    } catch (error) {
      if (!(error instanceof Error) || !(error.cause instanceof ReeveTokenInUse)) throw error;
      throw new AgentTokenMissing(
        kept === undefined
          ? `the agent ${agent} is registered, and this proxy has no token of it: put its token into ~/.reeve/agents.yaml on the proxy's machine`
          : `the gateway no longer accepts the token that this proxy has of the agent ${agent}: put its present token into ~/.reeve/agents.yaml on the proxy's machine`,
        { cause: error },
      );
    }
  }

  /**
   * Registers the agent with a token that the other replicas can make, or finds the one that another replica has registered it
   * with. One of a former key is replaced, so that this key can go; but not one that was made since this replica runs: while
   * keys are changed, replicas that do not agree which comes first would cut each other off again and again. Undefined if
   * somebody else has registered it.
   */
  async #findShared(key: Buffer, agentId: AgentName): Promise<string | undefined> {
    const made = newSharedToken(key, agentId);
    const registrar = await registrarKey(this.#as, agentId);
    const put = (how: { readonly onlyIfNew: boolean; readonly tellMetadata?: boolean }) =>
      enroll(registrar, agentId, this.#gateway, { ...this.#as.about, ...made, ...how });
    const { token, metadata = {} } = await put({ onlyIfNew: true, tellMetadata: true });
    if (token !== '') return token;
    for (const each of this.#keys) {
      const shared = sharedTokenOf(each, agentId, metadata);
      if (shared === undefined || !(await isKnownToken(this.#gateway, shared.token))) continue;
      const stays = each === key || shared.madeAt >= this.#since;
      return stays ? shared.token : (await put({ onlyIfNew: false })).token;
    }
    return undefined;
  }
}
