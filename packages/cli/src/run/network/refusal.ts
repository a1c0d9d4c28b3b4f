import { ActionDeniedError, OperationTerminatedError, ReeveError } from '@reeve/sdk';
import { UnreachableError } from './connect-out.ts';
import { denialText } from './denials.ts';
import { NoRoomError } from './governed-connections.ts';

/** Why a program gets no connection, for HTTP and for SOCKS. */
export interface Refusal {
  readonly status: 400 | 403 | 502 | 503;
  readonly socks: number;
  readonly reason: string;
}

const socksReplies = { failed: 1, notAllowed: 2, unreachable: 4 } as const;

export function refusalOf(error: unknown): Refusal {
  if (error instanceof UnreachableError) {
    return { status: 502, socks: socksReplies.unreachable, reason: error.message };
  }
  if (error instanceof NoRoomError) return { status: 503, socks: socksReplies.failed, reason: error.message };
  if (error instanceof ActionDeniedError) {
    return { status: 403, socks: socksReplies.notAllowed, reason: denialText(error.answer) };
  }
  if (error instanceof OperationTerminatedError) {
    const because = error.reason === '' ? '' : `: ${error.reason}`;
    return { status: 403, socks: socksReplies.notAllowed, reason: `terminated${because}` };
  }
  if (error instanceof ReeveError) return { status: 403, socks: socksReplies.notAllowed, reason: error.message };
  return { status: 502, socks: socksReplies.failed, reason: 'the server broke off, or its answer cannot be read' };
}

const phrases: Readonly<Record<Refusal['status'], string>> = {
  400: 'Bad Request',
  403: 'Forbidden',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
};

/** A whole answer for a connection that ends with it. */
export function refusalText({ status, reason }: Pick<Refusal, 'status' | 'reason'>): Buffer {
  const body = bodyOf(reason);
  const head = [
    `HTTP/1.1 ${status} ${phrases[status]}`,
    'Content-Type: text/plain; charset=utf-8',
    `Content-Length: ${body.length}`,
    'Connection: close',
  ];
  return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), body]);
}

/** The reason as the text of an answer. */
export function bodyOf(reason: string): Buffer {
  return Buffer.from(`reeve run: ${reason.replaceAll(/[\r\n]+/g, ' ')}\n`);
}
