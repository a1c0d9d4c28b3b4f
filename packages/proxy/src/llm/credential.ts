import type { IncomingHttpHeaders } from 'node:http';
import { bounds } from '@reeve/contract';
import { badToken } from './refusal-of.ts';

/** What the gateway issues. */
const issued = 'rva_';

/** The agent's token: `Authorization: Bearer` or `x-api-key`. Of two, the one that a gateway has issued. */
export function agentTokenOf(headers: IncomingHttpHeaders): string {
  const bearer = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1];
  const key = headers['x-api-key'];
  const given = [bearer, typeof key === 'string' ? key.trim() : undefined].filter(
    (token): token is string => token !== undefined && token !== '',
  );
  const token = given.find((each) => each.startsWith(issued)) ?? given[0];
  if (token === undefined) throw badToken('there is none; give it as "Authorization: Bearer" or "x-api-key"');
  if (token.length > bounds.jwt) throw badToken('it is too long');
  return token;
}
