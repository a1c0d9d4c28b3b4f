import type { Route } from '@reeve/contract/http';
import { routes } from '@reeve/contract/http';
import { isPage } from './serve-dashboard.ts';

const patterns = Object.values<Route>(routes).map(({ method, path }) => ({
  methods: method === 'GET' ? ['GET', 'HEAD'] : [method],
  parts: path.split('/'),
}));

/**
 * The methods that are answered at a path; none if nothing is there. Two routes may meet at one path: a document may be
 * called `test`, and `/api/v1/policies/test` then takes the methods of both.
 */
export function allowedMethods(path: string): readonly string[] {
  if (isPage(path)) return ['GET', 'HEAD'];
  const given = path.split('/').map(decoded);
  const found = patterns.filter(({ parts }) => parts.length === given.length && parts.every(isMetBy(given)));
  return [...new Set(found.flatMap(({ methods }) => methods))];
}

function isMetBy(given: readonly string[]) {
  return (part: string, at: number): boolean => (part.startsWith('{') ? given[at] !== '' : part === given[at]);
}

/** The router compares what is encoded in a path as if it were not. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
