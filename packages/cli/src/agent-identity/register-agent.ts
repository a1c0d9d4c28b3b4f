import type { Enrollment, EnrollOptions, Reeve } from '@reeve/sdk';
import { connect, ReeveError, ReeveUnauthenticated, ReeveUnavailable } from '@reeve/sdk';
import { CliError } from '../cli-error.ts';
import type { GlobalValues } from '../command-line/command.ts';
import type { Shell } from '../shell.ts';
import { variable } from '../shell.ts';
import type { AgentName } from './agent-name.ts';
import { agentNameText } from './agent-name.ts';
import type { GrpcGateway } from './grpc-gateway.ts';
import type { KeptToken } from './kept-agents.ts';

/** What a registration says of an agent. */
export interface AboutAgent {
  readonly name?: string | undefined;
  readonly framework?: string | undefined;
}

export interface RegisterAs {
  readonly shell: Shell;
  readonly globals: GlobalValues;
  readonly about?: AboutAgent;
  /** How long the token is to work, in seconds. Undefined: always. */
  readonly ttlSecs?: number | undefined;
  /** Refuses an agent that is registered already, in place of replacing its token. */
  readonly onlyIfNew?: boolean;
}

/** Below the time for which other processes wait for the lock of the file. */
const registerMs = 5000;
/** Whoever waits for it wants to begin. */
const identifyMs = 2000;

/** Registers an agent with REEVE_API_KEY or the credential of the context, and returns its token. */
export async function registerAgent(as: RegisterAs, id: AgentName, gateway: GrpcGateway): Promise<KeptToken> {
  const key = await registrarKey(as, id);
  const { ttlSecs, about = {}, onlyIfNew = false } = as;
  const { token, expiresAt } = await enroll(key, id, gateway, { ...about, tokenTtlSecs: ttlSecs, onlyIfNew });
  return { token, life: expiresAt === undefined || ttlSecs === undefined ? undefined : { expiresAt, ttlSecs } };
}

/** What an agent can be registered with. */
export async function registrarKey(as: RegisterAs, id: AgentName): Promise<string> {
  const key = as.globals.apiKey ?? variable(as.shell, 'REEVE_API_KEY') ?? (await contextCredential(as));
  if (key !== undefined) return key;
  throw new CliError(
    `the agent ${agentNameText(id)} has no token that works, and nothing to register it with: set REEVE_API_KEY or run "reeve login"`,
  );
}

/** Gets a new token in place of one that ends. The old one works for a minute more, so that nobody else is cut off. */
export async function renewToken({ token, life }: KeptToken, gateway: GrpcGateway): Promise<KeptToken> {
  return during(gateway, { deadlineMs: registerMs }, 'renew the token of the agent', async (reeve) => {
    const renewed = await reeve.renewToken(token);
    const { expiresAt } = renewed;
    return {
      token: renewed.token,
      life: expiresAt === undefined || life === undefined ? undefined : { ...life, expiresAt },
    };
  });
}

/** The session of the context, renewed if need be, or its key. */
export async function contextCredential({ shell, globals }: RegisterAs): Promise<string | undefined> {
  // Who has a token or a key waits for no client of HTTP.
  const [{ callableContext }, { clientFor }] = await Promise.all([
    import('../context/active-context.ts'),
    import('../http/connect.ts'),
  ]);
  return clientFor(shell, await callableContext(shell, globals), globals.timeout).credential();
}

export async function enroll(
  apiKey: string,
  id: AgentName,
  gateway: GrpcGateway,
  about: AboutAgent & Pick<EnrollOptions, 'token' | 'tokenTtlSecs' | 'onlyIfNew' | 'tellMetadata' | 'metadata'>,
): Promise<Enrollment> {
  return during(gateway, { apiKey, deadlineMs: registerMs }, `register ${agentNameText(id)}`, (reeve) =>
    reeve.enroll({ ...id, ...about }),
  );
}

/** Whether the gateway knows a token. With the gateway away nobody can tell, and the token stays. */
export async function isKnownToken(gateway: GrpcGateway, token: string, client?: Reeve): Promise<boolean> {
  const isKnown = async (reeve: Reeve) => {
    try {
      await reeve.identify(token, { deadlineMs: identifyMs });
      return true;
    } catch (error) {
      if (error instanceof ReeveUnavailable) return true;
      if (error instanceof ReeveUnauthenticated) return false;
      throw error;
    }
  };
  const what = 'ask whose token it is';
  if (client !== undefined) return explained(gateway, what, () => isKnown(client));
  return during(gateway, { deadlineMs: identifyMs }, what, isKnown);
}

async function during<Result>(
  gateway: GrpcGateway,
  options: { readonly apiKey?: string; readonly deadlineMs: number },
  what: string,
  work: (reeve: Reeve) => Promise<Result>,
): Promise<Result> {
  return explained(gateway, what, async () => {
    using reeve = connect({ ...gateway, ...options });
    return await work(reeve);
  });
}

async function explained<Result>(gateway: GrpcGateway, what: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ReeveError)) throw error;
    const where = gateway.addresses.join(', ');
    const ask = '; is that the gRPC address of the gateway, and does it take TLS (--grpc-ca)?';
    const hint = error instanceof ReeveUnavailable ? ask : '';
    // Errors of TLS have several lines.
    const why = error.message.replaceAll(/\s+/g, ' ').replaceAll(' )', ')');
    throw new CliError(`cannot ${what} at ${where}: ${why}${hint}`, { cause: error });
  }
}
