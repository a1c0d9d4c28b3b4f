import type { HttpAnswer } from './http-client.ts';
import type { TestGateway } from './gateway.ts';

export interface AccountJson {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly role: string;
  readonly status: string;
  readonly created_at: string;
}

export interface GrantJson {
  readonly access_token: string;
  readonly expires_in: number;
  readonly account: AccountJson;
}

export type ProblemJson = GrantJson & {
  readonly code: string;
  readonly detail: string;
  readonly errors?: readonly { readonly pointer: string }[];
};

export const password = 'seven quiet lamps';

/** The statuses of some answers, lowest first. */
export function statusesOf(answers: readonly { readonly status: number }[]): number[] {
  return answers.map(({ status }) => status).toSorted((a, b) => a - b);
}

/** A person at a browser: keeps the gateway's cookie, and sends it where it belongs. */
export class Person {
  readonly gateway: TestGateway;
  /** The value of `reeve_refresh`. Empty if the gateway has cleared it. */
  cookie: string | undefined;
  accessToken: string | undefined;

  constructor(gateway: TestGateway) {
    this.gateway = gateway;
  }

  register(email: string, members: object = {}): Promise<HttpAnswer<ProblemJson>> {
    return this.post('register', { email, password, ...members });
  }

  logIn(email: string, members: object = {}): Promise<HttpAnswer<ProblemJson>> {
    return this.post('login', { email, password, ...members });
  }

  refresh(headers: Readonly<Record<string, string>> = {}): Promise<HttpAnswer<ProblemJson>> {
    return this.post('refresh', undefined, headers);
  }

  logOut(): Promise<HttpAnswer<ProblemJson>> {
    return this.post('logout');
  }

  accept(token: string, members: object = {}): Promise<HttpAnswer<ProblemJson>> {
    return this.post('invite/accept', { token, password, ...members });
  }

  /** A call with the access token. */
  call<Body = ProblemJson>(method: string, path: string, json?: unknown): Promise<HttpAnswer<Body>> {
    const bearer = this.accessToken;
    return this.gateway.api.send<Body>(method, path, {
      ...(bearer === undefined ? {} : { bearer }),
      ...(json === undefined ? {} : { json }),
    });
  }

  async post(
    route: string,
    json?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<HttpAnswer<ProblemJson>> {
    const answer = await this.gateway.api.send<ProblemJson>('POST', `/api/v1/auth/${route}`, {
      ...(json === undefined ? {} : { json }),
      headers: { ...(this.cookie === undefined ? {} : { cookie: `reeve_refresh=${this.cookie}` }), ...headers },
    });
    const given = /^reeve_refresh=([^;]*)/.exec(answer.headers.get('set-cookie') ?? '')?.[1];
    if (given !== undefined) this.cookie = given === '' ? undefined : given;
    if (answer.status < 300 && answer.text !== '') this.accessToken = answer.body.access_token;
    return answer;
  }
}
