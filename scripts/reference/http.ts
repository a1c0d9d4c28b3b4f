import type { ProblemCode, Route, RouteName } from '@reeve/contract/http';
import { commonProblems, openApiDocument, problemStatus, routes } from '@reeve/contract/http';
import { meanings } from './http-meanings.ts';
import { anchor, code, page, prose, section, table } from './page.ts';
import type { Schema } from './schema-text.ts';
import { members, shape, words } from './schema-text.ts';

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly schema: Schema;
}

interface Operation {
  readonly parameters: readonly Parameter[];
  readonly requestBody?: { readonly content: { readonly 'application/json': { readonly schema: Schema } } };
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, { schema?: Schema }>> }>>;
}

interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

const accesses: Readonly<Record<Route['access'], string>> = {
  public: 'public',
  api_key: 'an API key',
  any: 'any credential',
  read: 'scope `read`',
  write: 'scope `write`',
  admin: 'scope `admin`',
};

const tenancies: Readonly<Record<Route['tenancy'], string>> = {
  none: 'holds nothing of any tenant',
  own: 'the caller’s own',
  unbound: 'unbound credentials only',
  person: 'the account of the person who calls',
};

class HttpPage {
  readonly #document = openApiDocument('') as unknown as OpenApi;
  readonly #used = new Set<string>();
  readonly #records: ReadonlyMap<string, Schema>;
  readonly #names: ReadonlyMap<string, string>;

  constructor() {
    const items = (name: RouteName) => this.#answerOf(name).properties?.['items']?.items ?? {};
    this.#records = new Map([
      ['ApiKey', this.#answerOf('revokeApiKey')],
      ['AuditEntry', items('listLogs')],
      ['Agent', this.#answerOf('getAgent')],
      ['TopologyAgent', items('topologyTeam')],
      ['Operation', this.#answerOf('getOp')],
      ['Control', this.#answerOf('getOp').properties?.['control']?.anyOf?.[0] ?? {}],
      ['Receipt', this.#answerOf('getControl').anyOf?.[0] ?? {}],
      ['ScopedControl', this.#answerOf('getControl').anyOf?.[1] ?? {}],
      ['TopologyTree', this.#document.components.schemas['TopologyTree'] ?? {}],
    ]);
    this.#names = new Map([...this.#records].map(([name, schema]) => [JSON.stringify(schema), name]));
  }

  text(): string {
    const byTag = Map.groupBy(Object.entries<Route>(routes), ([, route]) => route.tag);
    const sections = [...byTag].map(([tag, entries]) =>
      [`## ${tag}`, ...entries.map(([name, route]) => this.#route(name, route))].join('\n\n'),
    );
    const unused = Object.keys(meanings).filter((field) => !this.#used.has(field));
    if (unused.length > 0) throw new Error(`scripts/reference/http-meanings.ts: no route has ${unused.join(', ')}`);
    return page('HTTP', ...introduction(), overview(byTag), ...sections, this.#recordsText());
  }

  #route(name: string, route: Route): string {
    const { parameters, requestBody } = this.#operation(route);
    const body = requestBody?.content['application/json'].schema;
    const inBody = Object.entries(body?.properties ?? {}).map(([field, schema]) => ({
      name: field,
      in: 'body',
      required: body?.required?.includes(field) === true,
      schema,
    }));
    const rows = [...parameters, ...inBody].map((field) => this.#field([name, route.tag], field));
    return section(
      heading(route),
      prose(route.summary),
      `Access: ${accesses[route.access]}. Tenancy: ${tenancies[route.tenancy]}. Limit: ${limitOf(route)}.`,
      rows.length === 0 ? '' : table(['Name', 'In', 'Type', 'Meaning'], rows),
      statuses(route),
      this.#answer(route),
      `Problems: ${problemsOf(route)}.`,
    );
  }

  #field(
    places: readonly [route: string, tag: string],
    field: { name: string; in: string; required: boolean; schema: Schema },
  ): string[] {
    const general = `${field.in} ${field.name}`;
    const key = places.map((place) => `${place} ${general}`).find((special) => special in meanings) ?? general;
    const meaning = meanings[key];
    if (meaning === undefined)
      throw new Error(`scripts/reference/http-meanings.ts: "${key}" of ${places[0]} is not described`);
    this.#used.add(key);
    return [code(field.name), `${field.in}${field.required ? ', required' : ''}`, words(field.schema), meaning];
  }

  #answer(route: Route): string {
    const content = this.#operation(route).responses[route.success.status]?.content ?? {};
    const schema = content['application/json']?.schema;
    if (schema !== undefined) return block(shape(schema, this.#names));
    const types = Object.keys(content).map(code);
    return types.length === 0 ? '' : `As ${types.join(', ')}.`;
  }

  #recordsText(): string {
    const records = [...this.#records].map(([name, schema]) => section(name, block(members(schema, this.#names))));
    return ['## Records', ...records].join('\n\n');
  }

  #operation(route: Route): Operation {
    const operation = this.#document.paths[route.path]?.[route.method.toLowerCase()];
    if (operation === undefined) throw new Error(`the OpenAPI document lacks ${route.path}`);
    return operation;
  }

  #answerOf(name: RouteName): Schema {
    const content = this.#operation(routes[name]).responses[routes[name].success.status]?.content;
    return content?.['application/json']?.schema ?? {};
  }
}

function introduction(): string[] {
  return [
    'Made from `packages/contract/src/http`, like the validation of requests, `/openapi.json` and `/docs` of the running gateway.',
    [
      '- **Credential:** `Authorization: Bearer <API key or token>`, once. A scope includes those before it: `read`, `write`, `admin`.',
      '- **Tenancy:** a credential that is bound to an org or a team sees and touches what is its own. Another’s record is a 404 or is not listed; totals do not count it. `org_id` only narrows. An unbound credential sees everything.',
      '- **Bodies:** JSON in UTF-8, at most 1 MiB, nested at most 64 deep, no member twice, no unknown member. Where nothing in it is required, the body may be left out.',
      '- **Answers:** JSON. Timestamps are RFC 3339 in UTC with milliseconds, except `expires_at` of a token, which is in Unix seconds. Money is a decimal text in US dollars.',
      '- **Lists:** `per_page` and `cursor`; a page holds at most 4 MiB or one item, so it may have fewer than `per_page`; `next_cursor` is null on the last page; `total` counts what the caller may see and the filter lets through.',
      '- **Errors:** [problems](problems.md) with a stable `code`.',
      '- **Limits:** `RateLimit-Policy` and `RateLimit` tell what is left. `public` counts per address, `api` per credential, a key and its tokens together. A call that fails to authenticate counts as `public`.',
      '- **Request ids:** `X-Request-Id` comes back; one of 1 to 64 characters of `A-Za-z0-9._-` is kept, otherwise one is made up.',
      '- **Methods:** each `GET` also answers `HEAD`.',
    ].join('\n'),
    'Where nothing is durable (`memory:`), there are no accounts: their routes answer 503 `accounts_unavailable` before anything else. Routes that work with the refresh cookie refuse pages of other origins with 403 `cross_origin`.',
    '## Routes',
  ];
}

function overview(byTag: ReadonlyMap<string, readonly (readonly [string, Route])[]>): string {
  const rows = [...byTag.values()].flat().map(([, route]) => {
    const link = `[${code(`${route.method} ${route.path}`)}](${anchor(heading(route))})`;
    return [link, accesses[route.access], tenancies[route.tenancy]];
  });
  return table(['Route', 'Access', 'Tenancy'], rows);
}

function heading({ method, path }: Route): string {
  return `${method} ${code(path)}`;
}

function limitOf({ limit, access }: Route): string {
  if (limit === 'exempt') return 'none';
  return limit ?? (access === 'public' ? 'public' : 'api');
}

function problemsOf(route: Route): string {
  const codes = [...new Set<ProblemCode>([...commonProblems(route), ...route.problems])];
  const sorted = codes.toSorted((a, b) => problemStatus[a] - problemStatus[b] || (a < b ? -1 : 1));
  return sorted.map((problem) => `${problemStatus[problem]} ${code(problem)}`).join(', ');
}

function statuses({ success: { alternative, ...success } }: Route): string {
  const all = [success, ...(alternative === undefined ? [] : [alternative])];
  return all.map(({ status, description }) => `${code(String(status))}: ${prose(description)}`).join('\n\n');
}

function block(text: string): string {
  return `\`\`\`text\n${text}\n\`\`\``;
}

/** Every route: who may call it, its input and its answers. */
export function httpPage(): string {
  return new HttpPage().text();
}
