import type { SignOnProvider } from './sign-on-provider.ts';
import type { TestGateway } from './gateway.ts';
import { Person } from './person.ts';

/** A person whose browser goes from the gateway to the provider and back. Its cookies stay with their origin. */
export class Visitor extends Person {
  readonly provider: SignOnProvider;
  readonly cookies = new Map<string, Map<string, string>>();
  accepts = '*/*';

  constructor(gateway: TestGateway, provider: SignOnProvider) {
    super(gateway);
    this.provider = provider;
  }

  /** Goes to a page, or sends its form, and follows nothing. */
  async visit(url: string, form?: Readonly<Record<string, string>>): Promise<Response> {
    const { origin } = new URL(url);
    const jar = this.cookies.get(origin) ?? new Map<string, string>();
    this.cookies.set(origin, jar);
    const response = await fetch(url, {
      redirect: 'manual',
      headers: {
        accept: this.accepts,
        cookie: [...jar].map((pair) => pair.join('=')).join('; '),
      },
      ...(form === undefined ? {} : { method: 'POST', body: new URLSearchParams(form) }),
    });
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      if (value === '') jar.delete(name);
      else jar.set(name, value);
    }
    if (origin === this.gateway.http) this.cookie = jar.get('reeve_refresh') ?? this.cookie;
    return response;
  }

  start(returnTo?: string): Promise<Response> {
    const query = returnTo === undefined ? '' : `?return_to=${encodeURIComponent(returnTo)}`;
    return this.visit(`${this.gateway.http}/api/v1/auth/oidc/start${query}`);
  }

  /** Signs in at the provider, and returns where that sends the browser. */
  async atProvider(location: string, name: string): Promise<string> {
    let next = location;
    for (let steps = 0; steps < 12; steps++) {
      if (!next.startsWith(this.provider.url)) return next;
      const isForm = new URL(next).pathname.startsWith('/interaction/');
      const form = isForm ? { prompt: 'login', login: name, password: 'any' } : undefined;
      const response = await this.visit(next, form);
      const target = response.headers.get('location');
      if (target === null) throw new Error(`the provider answered ${response.status}: ${await response.text()}`);
      next = new URL(target, next).href;
    }
    throw new Error('the provider leads in a circle');
  }

  /** The whole way. Returns the answer of the gateway to the callback. */
  async signOn(name: string, returnTo?: string): Promise<Response> {
    const started = await this.start(returnTo);
    const location = started.headers.get('location');
    if (location === null) throw new Error(`the gateway answered ${started.status}: ${await started.text()}`);
    return this.visit(await this.atProvider(location, name));
  }

  /** Signs on and takes the access token, as the dashboard does. */
  async enter(name: string): Promise<Visitor> {
    const answer = await this.signOn(name);
    if (answer.status !== 302) throw new Error(`the gateway answered ${answer.status}: ${await answer.text()}`);
    await this.refresh();
    return this;
  }
}
