import type { Glob } from '../kernel/glob.ts';
import { compileGlob, GlobError } from '../kernel/glob.ts';
import { canonicalHost } from './host.ts';

const address = /^\[[0-9a-f.]*:[0-9a-f.]*:[0-9a-f:.]*\]$/i;
const bareAddress = /^[0-9a-f.]*:[0-9a-f.]*:[0-9a-f:.]*$/i;
const wild = /[*?[\]\\]/;
const ascii = /^[ -~]*$/;

/** A glob of hosts in the form that hosts are compared in. What has wildcards is so label by label. */
export function compileHostGlob(source: string): Glob {
  return { ...compileGlob(comparable(source), true), source };
}

function comparable(source: string): string {
  // In brackets an address looks like a set.
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

/** With a port or a path it is no host, and matches none. */
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
