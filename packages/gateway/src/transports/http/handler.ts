import type { Readable } from 'node:stream';
import type { Route, RouteInput, RouteName, RouteOutput, Routes } from '@reeve/contract/http';
import type { ApiKeyRecord, Principal } from '@reeve/core';

/** An answer that is not made from an object: a page, a stream, or JSON that is text already. */
export class RawAnswer {
  readonly type: string;
  readonly body: string | Readable;
  readonly headers: Readonly<Record<string, string>>;

  constructor(type: string, body: string | Readable, headers: Readonly<Record<string, string>> = {}) {
    this.type = type;
    this.body = body;
    this.headers = headers;
  }
}

interface Call {
  readonly requestId: string;
}

/** Who a handler deals with follows from the route's access: it cannot forget to ask. */
type Caller<Definition extends Route> = Definition['access'] extends 'public'
  ? Call
  : Definition['access'] extends 'api_key'
    ? Call & { readonly key: ApiKeyRecord }
    : Call & { readonly principal: Principal };

type Output<Definition extends Route> =
  RouteOutput<Definition> extends undefined ? RawAnswer : RouteOutput<Definition> | RawAnswer;

export type Handler<Name extends RouteName> = (
  input: RouteInput<Routes[Name]>,
  call: Caller<Routes[Name]>,
) => Output<Routes[Name]> | Promise<Output<Routes[Name]>>;

/** One handler for each route of the contract: a route without one does not compile. */
export type Handlers = { readonly [Name in RouteName]: Handler<Name> };
