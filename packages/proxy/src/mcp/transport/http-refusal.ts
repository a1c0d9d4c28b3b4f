import type { IncomingMessage } from 'node:http';
import { challengeOf } from '../auth/challenge.ts';
import { TokenFailure } from '../auth/token-failure.ts';
import { ambiguityOf } from '../protocol/ambiguity.ts';
import type { Message } from '../protocol/message.ts';
import { parseMessage, partsOf } from '../protocol/message.ts';
import { isObject } from '../protocol/written-json.ts';
import type { Refusal } from './exchange.ts';
import { readBody } from './http-request.ts';

const longestRefusal = 1024 * 1024;

/**
 * The server's own answer, unless it is about the credentials of this proxy, which are not the client's business.
 * `advice` is what the operator can do about those.
 */
export async function refusalOf(response: IncomingMessage, advice?: string): Promise<Refusal> {
  const status = response.statusCode ?? 502;
  const body = (await readBody(response, longestRefusal).catch(() => undefined)) ?? '';
  if (status === 401 || status === 403 || status === 407) {
    const { error, scope } = challengeOf(status, response.headers);
    const wanted = error === 'insufficient_scope' && scope !== undefined ? `, and wants the scopes ${scope}` : '';
    const what = `the MCP server does not accept the credentials of the proxy (HTTP ${status})${wanted}`;
    return badGateway(advice === undefined ? what : `${what}; ${advice}`);
  }
  if (status < 400 || status > 599) return badGateway(`the MCP server answered HTTP ${status}, which is not followed`);
  const contentType = headerOf(response, 'content-type') ?? 'text/plain';
  const message = parseMessage(body);
  // Some clients read messages whatever the status. A result that came this way would be neither filtered nor held back.
  const isClear = message === undefined ? !/event-stream/i.test(contentType) : partsOf(message).every(isNoResult);
  if (!isClear) return badGateway(`the MCP server answered HTTP ${status} with something that is no error`);
  return { status, contentType, body: message?.text ?? body };
}

function isNoResult(part: Message): boolean {
  return isObject(part.value) && part.value['result'] === undefined && ambiguityOf(part) === undefined;
}

export function headerOf({ headers }: IncomingMessage, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** What a refusal says, for the proxy itself. */
export function refusalText({ status, body }: Refusal): string {
  const said = parseMessage(body);
  const error = isObject(said?.value) ? said.value['error'] : undefined;
  const message = isObject(error) ? error['message'] : undefined;
  return status === 502 && typeof message === 'string' ? message : `the server answers HTTP ${status}`;
}

export function badGateway(message: string): Refusal {
  const body = JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32_000, message } });
  return { status: 502, contentType: 'application/json', body };
}

/** Why the server was not reached. */
export function unreachable(error: unknown): Refusal {
  if (error instanceof TokenFailure) return badGateway(error.message);
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'the connection broke';
  return badGateway(`the MCP server cannot be reached: ${code}`);
}
