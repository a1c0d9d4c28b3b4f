import type { Json } from '../audit/index.ts';
import type { CheckRequest } from './check-request.ts';
import { withoutMark } from './parse-json.ts';
import { scanJson } from './scan-json.ts';

/** The request with other arguments. What it was checked for stays true: they are no deeper, and JSON. */
export function withArgs<Request extends Pick<CheckRequest, 'action' | 'args'>>(request: Request, args: Json): Request {
  const json = writtenArgs(request, args);
  return { ...request, action: { ...request.action, json }, args };
}

/** The arguments as text. Members that are as they were stay as they were sent, to the last digit. */
function writtenArgs({ action, args: sent }: Pick<CheckRequest, 'action' | 'args'>, args: Json): string {
  if (!isObject(args) || !isObject(sent)) return JSON.stringify(args);
  const places = membersIn(withoutMark(action.json));
  const names = new Set([...places.keys(), ...Object.keys(args)]);
  const written: string[] = [];
  for (const name of names) {
    if (!Object.hasOwn(args, name)) continue;
    const asSent = Object.hasOwn(sent, name) && sent[name] === args[name] ? places.get(name) : undefined;
    written.push(`${JSON.stringify(name)}:${asSent ?? JSON.stringify(args[name])}`);
  }
  return `{${written.join(',')}}`;
}

/** The text of each member of an object, without those of members. Of a name that comes twice, the last counts. */
function membersIn(json: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  let depth = 0;
  let name = '';
  const anyNumber = Number.POSITIVE_INFINITY;
  scanJson(
    json,
    { depth: anyNumber, values: anyNumber },
    {
      open: () => depth++,
      close: () => depth--,
      name: (from, to) => {
        if (depth === 1) name = JSON.parse(json.slice(from, to)) as string;
      },
      begin: () => {},
      end: (start, end) => {
        if (depth === 1) found.set(name, json.slice(start, end));
      },
    },
  );
  return found;
}

function isObject(value: Json | undefined): value is { readonly [name: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
