import type { Route, RouteName } from '@reeve/contract/http';
import { commonProblems, problemSchema, problemStatus, routes } from '@reeve/contract/http';
import { expect } from 'vitest';

export interface HttpAnswer<Body = never> {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The parsed body, if it is JSON. */
  readonly body: Body;
}

export interface HttpRequest {
  readonly bearer?: string;
  readonly json?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array<ArrayBuffer>;
}

/**
 * An HTTP client that holds the gateway to its own description. An answer with an undocumented status, or with a body
 * that does not match its schema, fails any test.
 */
export class HttpClient {
  readonly #base: string;

  constructor(base: string) {
    this.#base = base;
  }

  get<Body = never>(path: string, bearer?: string): Promise<HttpAnswer<Body>> {
    return this.send<Body>('GET', path, bearer === undefined ? {} : { bearer });
  }

  post<Body = never>(path: string, bearer?: string, json?: unknown): Promise<HttpAnswer<Body>> {
    return this.send<Body>('POST', path, {
      ...(bearer === undefined ? {} : { bearer }),
      ...(json === undefined ? {} : { json }),
    });
  }

  async send<Body = never>(method: string, path: string, request: HttpRequest = {}): Promise<HttpAnswer<Body>> {
    const { bearer, json, body } = request;
    const response = await fetch(`${this.#base}${path}`, {
      method,
      redirect: 'manual',
      headers: {
        ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
        ...(json === undefined ? {} : { 'content-type': 'application/json' }),
        ...request.headers,
      },
      ...(json === undefined ? {} : { body: JSON.stringify(json) }),
      ...(body === undefined ? {} : { body }),
    });
    const text = await response.text();
    const isJson = /[/+]json(;|$)/.test(response.headers.get('content-type') ?? '');
    const answer = {
      status: response.status,
      headers: response.headers,
      text,
      body: (isJson ? JSON.parse(text) : undefined) as Body,
    };
    holdToContract(method, path, answer);
    return answer;
  }
}

/** The route of a path, if there is one. */
export function routeOf(method: string, path: string): { name: RouteName; route: Route } | undefined {
  const [bare = ''] = path.split('?');
  const found = Object.entries<Route>(routes).find(
    ([, route]) =>
      route.method === method &&
      new RegExp(`^${route.path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(bare),
  );
  return found === undefined ? undefined : { name: found[0] as RouteName, route: found[1] };
}

function holdToContract(method: string, path: string, answer: HttpAnswer<unknown>): void {
  const called = `${method} ${path} answered ${answer.status}`;
  expect(answer.headers.get('x-content-type-options'), called).toBe('nosniff');
  expect(answer.headers.get('x-request-id'), called).toMatch(/^[A-Za-z0-9._-]{1,64}$/);
  const route = routeOf(method, path)?.route;
  if (answer.status >= 400) {
    expect(answer.headers.get('content-type'), called).toBe('application/problem+json');
    const problem = problemSchema.parse(answer.body);
    expect(problem.status, called).toBe(answer.status);
    expect(problemStatus[problem.code], called).toBe(answer.status);
    if (answer.status === 401) expect(answer.headers.get('www-authenticate'), called).toBe('Bearer');
    if (route !== undefined) {
      expect([...commonProblems(route), ...route.problems, 'shutting_down'], called).toContain(problem.code);
    }
    return;
  }
  expect(route, `${called}, which is no route of the contract`).toBeDefined();
  const { status, alternative } = route?.success ?? {};
  expect([status, alternative?.status], called).toContain(answer.status);
  if (route?.success.body !== undefined) {
    const parsed = route.success.body.safeParse(answer.body);
    expect(parsed.error?.issues ?? [], called).toEqual([]);
  }
}
