import type { IncomingMessage, ServerResponse } from 'node:http';
import { ReeveInvalidRequest, ReeveUnauthenticated } from '@reeve/sdk';
import type { AgentsByToken } from '../../front/agents-by-token.ts';
import type { SubjectIssuers } from '../../front/subject-issuers.ts';
import { InvalidToken, IssuerAway, longestToken, statedClaims } from '../../oauth/token-issuer.ts';
import type { Caller } from './caller.ts';
import { callerOf } from './caller.ts';
import type { Admission, ProtectedResource } from './protected-resource.ts';
import { NotPermitted } from './protected-resource.ts';
import { refuseRequest } from './refuse-request.ts';

/** The proxy has no token of an agent, and may not replace the one that there is. The message says what to do. */
export class AgentTokenMissing extends Error {}

/** Where the tokens of agents come from that persons act as. */
export interface AgentTokens {
  /** Throws `AgentTokenMissing`, or another error while nobody can say. */
  find(agent: string): Promise<string>;
  /** The gateway no longer knows this token. */
  forget(agent: string, token: string): void;
}

/** How callers in front prove who they are. */
export interface Doorman {
  readonly agents: AgentsByToken;
  readonly oauth: ProtectedResource | undefined;
  readonly agentTokens: AgentTokens;
  readonly subjectIssuers: SubjectIssuers;
}

const bearerForm = new RegExp(String.raw`^bearer +([\x21-\x7e]{1,${longestToken}})$`, 'i');
const longestAgentToken = 1024;
const idHeader = 'x-reeve-id-token';

/** Says who calls, or answers why they may not. */
export async function authenticate(
  doorman: Doorman,
  server: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<Caller | undefined> {
  const { oauth } = doorman;
  const challenged = (error?: 'invalid_token' | 'insufficient_scope') => ({
    headers: { 'www-authenticate': oauth?.challenge(server, error) ?? 'Bearer realm="reeve"' },
  });
  const token = bearerForm.exec(request.headers.authorization ?? '')?.[1];
  if (token === undefined) {
    const what = oauth === undefined ? 'the token of an agent is missing' : 'an access token is missing';
    refuseRequest(response, 401, `${what}: send Authorization: Bearer`, challenged());
    return undefined;
  }
  try {
    if (oauth?.takes(token) === true) return await asPerson(doorman, oauth, server, token, idTokenOf(request));
    // The gateway takes the JWTs of workloads, too.
    const isTooLong = token.length > longestAgentToken && statedClaims(token) === undefined;
    if (isTooLong) throw new ReeveUnauthenticated('it is too long');
    const { agent, refused } = doorman.agents.find(token);
    return callerOf(await agent, refused);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    if (error instanceof ReeveUnauthenticated || error instanceof ReeveInvalidRequest) {
      refuseRequest(response, 401, 'the token is nobody’s', challenged('invalid_token'));
    } else if (error instanceof InvalidToken) refuseRequest(response, 401, reason, challenged('invalid_token'));
    else if (error instanceof NotPermitted) {
      refuseRequest(response, 403, reason, error.lacksScope ? challenged('insufficient_scope') : {});
    } else if (error instanceof AgentTokenMissing) refuseRequest(response, 403, reason);
    else {
      const what = error instanceof IssuerAway ? 'the access token cannot be verified' : 'Reeve is not reachable';
      refuseRequest(response, 503, `${what}: ${reason}`, { headers: { 'retry-after': '5' } });
    }
    return undefined;
  }
}

function idTokenOf({ headers }: IncomingMessage): string | undefined {
  const given = headers[idHeader];
  return typeof given === 'string' && given !== '' ? given : undefined;
}

async function asPerson(
  doorman: Doorman,
  oauth: ProtectedResource,
  server: string,
  token: string,
  idToken: string | undefined,
): Promise<Caller> {
  const admission = await oauth.admit(server, token, idToken);
  try {
    return await actingAs(doorman, admission);
  } catch (error) {
    // The kept token was replaced or removed, and a newer one may be there.
    if (error instanceof ReeveUnauthenticated) return await actingAs(doorman, admission).catch(asMissing);
    throw error;
  }
}

async function actingAs({ agents, agentTokens, subjectIssuers }: Doorman, admission: Admission): Promise<Caller> {
  const { agent: name, person, acceptedUntil } = admission;
  const agentToken = await agentTokens.find(name);
  try {
    const known = agents.find(agentToken);
    const agent = await known.agent;
    const isSubject = await subjectIssuers.include(person.issuer, agentToken);
    const subject = { ...person, subjectToken: isSubject ? person.token : undefined };
    return callerOf(agent, known.refused, subject, acceptedUntil);
  } catch (error) {
    if (error instanceof ReeveUnauthenticated) agentTokens.forget(name, agentToken);
    throw error;
  }
}

function asMissing(error: unknown): never {
  if (!(error instanceof ReeveUnauthenticated)) throw error;
  throw new AgentTokenMissing('the gateway does not know the token that this proxy has of the agent', { cause: error });
}
