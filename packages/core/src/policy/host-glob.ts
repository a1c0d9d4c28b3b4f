import type { Glob } from '../kernel/index.ts';
import { compileGlob, GlobError } from '../kernel/index.ts';
import { canonicalHost } from './host.ts';
import type { Dimension } from './subject.ts';

const address = /^\[[0-9a-f.]*:[0-9a-f.]*:[0-9a-f:.]*\]$/i;
const bareAddress = /^[0-9a-f.]*:[0-9a-f.]*:[0-9a-f:.]*$/i;
const wild = /[*?[\]\\]/;
const ascii = /^[ -~]*$/;

/** A glob of hosts, in the form in which hosts are compared. A glob with wildcards is converted label by label. */
export function compileHostGlob(source: string): Glob {
  return { ...compileGlob(comparable(source), true), source };
}

function comparable(source: string): string {
  // An address in brackets looks like a set.
  const six = address.test(source) ? source : bareAddress.test(source) ? `[${source}]` : undefined;
  const parsed = six === undefined ? undefined : canonicalHost(six);
  if (parsed !== undefined) return parsed;
  if (!wild.test(source)) return isHost(source) ? (canonicalHost(source) ?? source) : source;
  const named = source.length > 1 && source.endsWith('.') ? source.slice(0, -1) : source;
  if (ascii.test(named)) return named;
  let at = 0;
  const labels = named.split('.').map((label) => {
    const text = asciiLabel(label, at);
    at += label.length + 1;
    return text;
  });
  return labels.join('.');
}

/** A text with a port or a path is no host, and matches none. */
function isHost(source: string): boolean {
  return !/[\s:/@]/.test(source);
}

function asciiLabel(label: string, at: number): string {
  if (ascii.test(label)) return label;
  if (wild.test(label)) {
    throw new GlobError('a label in another script cannot have wildcards; write it in ASCII, as "xn--…"', at);
  }
  return canonicalHost(label) ?? label;
}

/** A glob of paths. Paths are compared without `file:`, so a glob that starts with it loses that prefix. */
export function compilePathGlob(source: string): Glob {
  return { ...compileGlob(source.replace(/^file:(?:\/\/(?:localhost)?)?(?=\/)/i, '')), source };
}

/** A glob of users. Addresses are compared without regard to letter case, and everything else to the letter. */
export function compileUserGlob(source: string): Glob {
  const exact = compileGlob(source);
  const anyCase = compileGlob(source, true);
  return {
    ...exact,
    matches: (text, charge) => (text.includes('@') ? anyCase : exact).matches(text, charge),
  };
}

/** Hosts and paths are compared in one form of all their spellings. */
const compilers: Partial<Record<Dimension, (source: string) => Glob>> = {
  hosts: compileHostGlob,
  paths: compilePathGlob,
  users: compileUserGlob,
};

/** A glob of one dimension, as rules compare it. */
export function compileGlobOf(dimension: Dimension, source: string): Glob {
  return compilers[dimension]?.(source) ?? compileGlob(source);
}

/** The globs of one source. The same text is compiled once, however often aliases repeat it. */
export class SourceGlobs {
  readonly #compiled = new Map<string, Glob>();

  compile(dimension: Dimension, text: string): Glob {
    const key = `${dimension} ${text}`;
    const known = this.#compiled.get(key) ?? compileGlobOf(dimension, text);
    this.#compiled.set(key, known);
    return known;
  }
}
