import { describe, expect, it } from 'vitest';
import { governedMethods, toolsAlone as governedNothing } from './govern/governed-methods.ts';
import { readServersFile } from './servers-file.ts';

const options = {
  variables: { TOKEN: 't0p', REEVE_API_KEY: 'k', EMPTY: '' },
  inherited: { PATH: '/bin', REEVE_AGENT_TOKEN: 'x' },
};
const read = (server: unknown) => readServersFile({ servers: { one: server } }, options).servers.get('one');

describe('a servers file', () => {
  it('has commands', () => {
    const server = {
      command: 'npx',
      args: ['-y', '${TOKEN}', 7],
      env: { A: 'a${TOKEN}b', E: '${EMPTY}', REEVE_X: '1' },
      cwd: '/srv',
    };
    expect(read(server)).toMatchObject({
      command: 'npx',
      args: ['-y', 't0p', '7'],
      env: { PATH: '/bin', A: 'at0pb', E: '' },
      cwd: '/srv',
    });
    expect(read({ command: 'x', env: { REEVE_AGENT_TOKEN: 'y' } })).toMatchObject({ env: { PATH: '/bin' } });
  });

  it('has addresses and costs', () => {
    const server = read({
      url: 'https://x.example/mcp',
      headers: { Authorization: 'Bearer ${TOKEN}' },
      costs: { 'a*': 0.5 },
    });
    expect(server).toMatchObject({ headers: { authorization: 'Bearer t0p' } });
    expect(server?.costs('abc')).toBe(500_000);
  });

  it('says what is governed, and of which run it is, for all servers or for one', () => {
    const of = (content: object, server: object) =>
      readServersFile({ ...content, servers: { one: { command: 'x', ...server } } }, options).servers.get('one');
    expect(of({}, {})).toMatchObject({ methods: governedNothing, hasFixedRun: false });
    const [all, prompts] = [governedMethods(['all']), governedMethods(['prompts/get'])];
    expect(of({ govern: 'all', run: 'fixed' }, {})).toMatchObject({ methods: all, hasFixedRun: true });
    expect(of({ govern: ['all'] }, { govern: ['prompts/get'], run: 'fixed' })).toMatchObject({
      methods: prompts,
      hasFixedRun: true,
    });
    expect(() => of({ govern: 'some' }, {})).toThrow('govern: "some" cannot be governed');
    expect(() => of({ run: 'mine' }, {})).toThrow('run must be "fixed"');
  });

  it.each([
    [{}, 'either "command" or "url"'],
    [{ command: 'x', url: 'y' }, 'either "command" or "url"'],
    [{ command: 'x', headers: {} }, 'servers.one.headers is not known'],
    [{ command: '${NOT_SET}' }, 'servers.one.command needs the environment variable NOT_SET, which is not set'],
    [{ command: 'x', args: 'y' }, 'servers.one.args must be a list'],
    [{ command: 'x', env: ['y'] }, 'servers.one.env must be names'],
    [{ command: ['x'] }, 'servers.one.command must be a text'],
    [{ url: 'file:///etc' }, 'must be an address with http'],
    [{ url: 'http://x', headers: { 'a b': 'c' } }, 'is no header'],
    [{ url: 'http://x', headers: { a: 'c\nd' } }, 'characters that no header may have'],
    [{ url: 'http://x', costs: { a: [] } }, 'servers.one.costs.a must be dollars'],
    [{ url: 'http://x', costs: { a: 'much' } }, 'servers.one.costs: amount'],
    [{ url: 'http://x', costs: { '[a': 1 } }, 'servers.one.costs: "[a" is not a glob'],
    [{ url: 'http://x', costs: { '[z-a]': 1 } }, 'servers.one.costs: "[z-a]" is not a glob'],
    [{ command: 'x', govern: 'tools/list' }, 'servers.one.govern: "tools/list" cannot be governed; there are all, '],
    [{ command: 'x', govern: [] }, 'servers.one.govern: name what to govern'],
    [{ command: 'x', govern: { all: true } }, 'servers.one.govern must be all, or a list'],
    [{ command: 'x', run: 'free' }, 'servers.one.run must be "fixed", or be left out'],
  ])('says what is wrong with %j', (server, message) => expect(() => read(server)).toThrow(message));

  it.each([
    null,
    {},
    { servers: {} },
    { servers: { 'a/b': { command: 'x' } } },
    { servers: { a: { command: 'x' } }, more: 1 },
  ])('is none: %j', (content) => expect(() => readServersFile(content, options)).toThrow());
});

describe('oauth', () => {
  const good = { issuer: 'https://login.example', agents: [{ match: { sub: '**' }, agent: 'acme/-/helper' }] };
  const readOAuth = (oauth: unknown) => readServersFile({ oauth, servers: { one: { command: 'x' } } }, options).oauth;

  it('is read', () => {
    expect(readOAuth({ ...good, scopes: ['a'], audience: 'mcp' })).toMatchObject({
      issuer: 'https://login.example',
      audience: 'mcp',
      scopes: ['a'],
      agents: [{ agent: 'acme/-/helper' }],
    });
  });

  it.each([
    [{ ...good, issuer: 'http://login.example' }, 'oauth.issuer must be an https address'],
    [{ ...good, issuer: undefined }, 'oauth.issuer'],
    [{ ...good, jwks_uri: 'http://login.example/jwks' }, 'oauth.jwks_uri must be an https address'],
    [{ ...good, scopes: ['a b'] }, 'oauth.scopes[0] must be one scope'],
    [{ ...good, audience: '' }, 'oauth.audience must not be empty'],
    [{ ...good, agents: [] }, 'oauth.agents must say'],
    [{ ...good, agents: [{ match: {}, agent: 'a/b/c' }] }, 'must name a claim'],
    [{ ...good, agents: [{ match: { sub: '[' }, agent: 'a/b/c' }] }, 'match.sub is no glob'],
    [{ ...good, agents: [{ match: { sub: '*' }, agent: 'a/b' }] }, 'must be ORG/TEAM/AGENT'],
    [{ ...good, agents: [{ match: { sub: '*' }, agent: 'a/b/c', more: 1 }] }, 'more is not known'],
    [{ ...good, client_id: 'x' }, 'oauth.client_id is not known'],
  ])('is none: %j', (oauth, message) => expect(() => readOAuth(oauth)).toThrow(message));
});

describe('auth', () => {
  it('needs https, and no header Authorization beside it', () => {
    const auth = { type: 'person' };
    expect(() => read({ url: 'http://a.example/mcp', auth })).toThrow('auth needs a url with https');
    expect(() => read({ url: 'https://a.example/mcp', auth, headers: { Authorization: 'x' } })).toThrow(
      'has both auth',
    );
    expect(() => read({ command: 'x', auth })).toThrow('auth is not known');
  });
});
