import { isUtf8 } from 'node:buffer';
import { statedVersion } from './envelope.ts';
import type { Request } from './message.ts';
import type { JsonObject } from './written-json.ts';
import { isObject } from './written-json.ts';

/** The headers of revision 2026-07-28, which repeat parts of a request for those who route it without reading it. */

/** Which parameter `Mcp-Name` repeats. */
const nameSources: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
  'tasks/get': 'taskId',
  'tasks/update': 'taskId',
  'tasks/cancel': 'taskId',
};

/** The headers that a request has by its own content. A request of the family with `initialize` has none. */
export function headersOfRequest({ method, params }: Request): Record<string, string> {
  const version = statedVersion(params);
  if (version === undefined) return {};
  const source = Object.hasOwn(nameSources, method) ? nameSources[method] : undefined;
  const name = source !== undefined && isObject(params) ? params[source] : undefined;
  return {
    'mcp-protocol-version': fieldValue(version),
    'mcp-method': fieldValue(method),
    ...(typeof name === 'string' ? { 'mcp-name': fieldValue(name) } : {}),
  };
}

/**
 * Whether the headers say something else than the request. A server that routes by them would do something else. Of the
 * name, only the one of a tool is compared: the rest is the business of the server.
 */
export function contradicts(headers: Readonly<Record<string, string>>, request: Request): boolean {
  const { method, params } = request;
  const { 'mcp-name': name, 'mcp-method': stated, 'mcp-protocol-version': version } = headers;
  if (stated !== undefined && plainValue(stated) !== method) return true;
  const own = statedVersion(params);
  if (own !== undefined && version !== undefined && version !== own) return true;
  if (method !== 'tools/call' || !isObject(params)) return false;
  if (name !== undefined && plainValue(name) !== params['name']) return true;
  const repeated = Object.keys(headers).filter((each) => each.startsWith('mcp-param-'));
  return repeated.some((each) => !holds(params['arguments'], plainValue(headers[each] ?? '')));
}

/** Whether a text, number or truth value within the arguments is written so. */
function holds(value: unknown, text: string | undefined): boolean {
  if (text === undefined) return false;
  if (typeof value === 'object' && value !== null) return Object.values(value).some((each) => holds(each, text));
  return value === text || (['number', 'boolean'].includes(typeof value) && JSON.stringify(value) === text);
}

/** Whether the headers lack what revision 2026-07-28 demands. In front of a server without headers nobody else looks. */
export function lacksHeaders(headers: Readonly<Record<string, string>>, request: Request): boolean {
  return Object.keys(headersOfRequest(request)).some((name) => headers[name] === undefined);
}

/** A parameter of a tool that is repeated as `Mcp-Param-…`. */
export interface ParamHeader {
  readonly path: readonly string[];
  readonly name: string;
}

const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const deepest = 20;

/** The parameters that the schema of a tool marks with `x-mcp-header`. */
export function paramHeadersOf(schema: unknown, path: readonly string[] = []): ParamHeader[] {
  if (!isObject(schema) || path.length > deepest) return [];
  const name = schema['x-mcp-header'];
  const own = typeof name === 'string' && path.length > 0 && token.test(name) ? [{ path, name }] : [];
  const properties = isObject(schema['properties']) ? Object.entries(schema['properties']) : [];
  return [...own, ...properties.flatMap(([key, inner]) => paramHeadersOf(inner, [...path, key]))];
}

export function headersOfParams(declared: readonly ParamHeader[], args: unknown): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const { path, name } of declared) {
    const value = path.reduce<unknown>((node, key) => (isObject(node) ? node[key] : undefined), args);
    if (typeof value === 'string' || typeof value === 'boolean' || Number.isSafeInteger(value)) {
      headers[`mcp-param-${name.toLowerCase()}`] = fieldValue(String(value));
    }
  }
  return headers;
}

/**
 * Whether a header `Mcp-Param-…` says something else than the parameter that it repeats, or is missing. A server that routes by
 * it would do something else than what was judged.
 */
export function contradictsParams(
  headers: Readonly<Record<string, string>>,
  declared: readonly ParamHeader[],
  args: unknown,
): boolean {
  const expected = headersOfParams(declared, args);
  return declared.some(({ name }) => {
    const header = `mcp-param-${name.toLowerCase()}`;
    const [given, value] = [headers[header], expected[header]];
    return given === undefined || value === undefined ? given !== value : plainValue(given) !== plainValue(value);
  });
}

const encoded = /^=\?base64\?(.*)\?=$/s;

/** A text as a header can carry it: as it is, or in base64 if it would be changed or refused on the way. */
export function fieldValue(text: string): string {
  const isPlain = /^[\t\x20-\x7e]+$/.test(text) && text === text.trim() && !encoded.test(text);
  return isPlain ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`;
}

/** What a field says. Undefined if it is in base64 and wrongly so: readers differ in what they make of that. */
function plainValue(value: string): string | undefined {
  const base64 = encoded.exec(value)?.[1];
  if (base64 === undefined) return value;
  const bytes = Buffer.from(base64, 'base64');
  return bytes.toString('base64') === base64 && isUtf8(bytes) ? bytes.toString() : undefined;
}

/** The headers of a message that do not repeat what is in it. */
export function unrelatedHeaders(headers: Readonly<Record<string, string>> = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !/^mcp-(name$|param-)/.test(name)));
}

/** What the client's headers say about the message, for the upstream. Credentials and the rest stay here. */
export function passedHeaders(headers: JsonObject): Record<string, string> {
  const passed = /^(mcp-(?!session-id$)[a-z0-9-]+|traceparent|tracestate)$/;
  const entries = Object.entries(headers).filter(
    (entry): entry is [string, string] => passed.test(entry[0]) && typeof entry[1] === 'string',
  );
  return Object.fromEntries(entries);
}
