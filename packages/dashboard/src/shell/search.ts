import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback } from 'react';

export type RawSearch = Readonly<Record<string, unknown>>;

/** Search params as plain text: `?state=running&q=12` reads and writes as typed. A repeated name is a list. */
export function parseSearch(text: string): Record<string, string | string[]> {
  const found: Record<string, string | string[]> = {};
  for (const [name, value] of new URLSearchParams(text)) {
    const before = found[name];
    found[name] = before === undefined ? value : [before, value].flat();
  }
  return found;
}

export function stringifySearch(search: RawSearch): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(search)) {
    for (const each of [value].flat() as (string | number | boolean | null | undefined)[]) {
      if (each !== undefined && each !== null && each !== '' && each !== false) params.append(name, String(each));
    }
  }
  return params.size === 0 ? '' : `?${params.toString()}`;
}

/** Readers for `parse…Search` functions. They leave out invalid values, so an old or mistyped link still opens. */
export function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

export function oneOf<Value extends string>(allowed: readonly Value[], value: unknown): Value | undefined {
  return allowed.find((each) => each === value);
}

export function flag(value: unknown): true | undefined {
  return value === true || value === 'true' ? true : undefined;
}

/** A name that may be repeated. */
export function texts(value: unknown): readonly string[] | undefined {
  const all = [value].flat().filter((each) => typeof each === 'string' && each !== '') as string[];
  return all.length === 0 ? undefined : all;
}

/** The page's checked search params, and a function to change some. A changed filter replaces the history entry. */
export function usePageSearch<Search extends object>(
  parse: (raw: RawSearch) => Search,
): readonly [Search, (changed: Partial<Search>, options?: { readonly isStep?: boolean }) => void] {
  const search = parse(useSearch({ strict: false }));
  const navigate = useNavigate();
  const change = useCallback(
    (changed: Partial<Search>, { isStep = false }: { readonly isStep?: boolean } = {}) => {
      const next = (before: RawSearch) => ({ ...before, ...changed });
      void navigate({ to: '.', search: next as never, replace: !isStep, resetScroll: false });
    },
    [navigate],
  );
  return [search, change];
}
