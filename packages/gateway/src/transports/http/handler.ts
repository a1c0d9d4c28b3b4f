import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex, Readable } from 'node:stream';
import type { Route, RouteInput, RouteName, RouteOutput, Routes } from '@reeve/contract/http';
import type { Origin, Person, Principal, UnboundPrincipal } from '@reeve/core';

/** An answer that is not made from an object: a page, a stream, or JSON text. */
export class RawAnswer {
  readonly type: string;
  readonly body: string | Buffer | Readable;
  readonly headers: Readonly<Record<string, string>>;

  constructor(type: string, body: string | Buffer | Readable, headers: Readonly<Record<string, string>> = {}) {
    this.type = type;
    this.body = body;
    this.headers = headers;
  }
}

/** An answer with the alternative status of its route. */
export class AlternativeAnswer<Body> {
  readonly body: Body;

  constructor(body: Body) {
    this.body = body;
  }
}

/** Headers by name. A list is sent as one header for each of its values. */
export type AnswerHeaders = Readonly<Record<string, string | string[]>>;

/** An answer with its own headers; without a body it sends none. */
export class HeadedAnswer<Body = undefined> {
  readonly body: Body;
  readonly headers: AnswerHeaders;

  constructor(body: Body, headers: AnswerHeaders = {}) {
    this.body = body;
    this.headers = headers;
  }
}

/** A connection that a stream takes over. */
export interface Connection {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly socket: Duplex;
  /** Bytes that came after the request. */
  readonly head: Buffer;
  readonly headers: Readonly<Record<string, string>>;
}

/** An answer that does not end by itself. It is opened once the request is known to be valid. */
export class StreamAnswer {
  readonly open: (connection: Connection) => void;

  constructor(open: (connection: Connection) => void) {
    this.open = open;
  }
}

interface Call {
  readonly requestId: string;
  /** Whether the caller has closed the connection, and nobody waits for the answer any more. */
  readonly hasLeft: () => boolean;
  /** The origin of the call, for audit entries. */
  readonly from: Origin;
  /** The host that the caller named, without its port; the gateway answers for it. Undefined if it named none. */
  readonly host?: string | undefined;
  /** The content of the refresh cookie, on routes that use it. */
  readonly refreshToken?: string;
  /** The content of the cookie of a single sign-on, on routes that redirect. */
  readonly flow?: string | undefined;
  /** Whether a person sees the answer, on routes that redirect. */
  readonly wantsPage?: boolean;
}

/** Who passes `call-route.ts` at a route of each tenancy. */
interface Admitted {
  readonly none: Principal;
  readonly own: Principal;
  readonly unbound: UnboundPrincipal;
  readonly person: Person;
}

/** The route's access and tenancy decide the caller's type, so a handler cannot forget to check. */
type Caller<Definition extends Route> = Definition['access'] extends 'public'
  ? Call
  : Call & { readonly principal: Admitted[Definition['tenancy']] };

type Output<Definition extends Route> = Definition extends { stream: string } ? StreamAnswer : Answer<Definition>;

type Answer<Definition extends Route> =
  | RawAnswer
  | HeadedAnswer<RouteOutput<Definition>>
  | (RouteOutput<Definition> extends undefined ? never : RouteOutput<Definition>)
  | (Definition['success'] extends { alternative: object } ? AlternativeAnswer<RouteOutput<Definition>> : never);

export type Handler<Name extends RouteName> = (
  input: RouteInput<Routes[Name]>,
  call: Caller<Routes[Name]>,
) => Output<Routes[Name]> | Promise<Output<Routes[Name]>>;

/** One handler for each route of the contract: a route without one does not compile. */
export type Handlers = { readonly [Name in RouteName]: Handler<Name> };
