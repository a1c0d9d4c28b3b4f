import { existsSync } from 'node:fs';
import { isIP } from 'node:net';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { bareHost } from '@reeve/contract/host-name';
import { messageOf, parseApiKey, parseEmail, parseUsd } from '@reeve/core';
import { parseNatsUrls } from './nats-url.ts';
import { parsePostgresUrl } from './postgres-url.ts';

/** Turns the text of a setting into its value; throws an `Error` whose message says what is accepted. */
export type Parse<Value> = (text: string) => Value;

export interface Address {
  readonly host: string;
  readonly port: number;
}

export function address(text: string): Address {
  const match = /^(\[[0-9a-f:.]+\]|[^:[\]\s]*):(\d{1,5})$/i.exec(text);
  const port = Number(match?.[2]);
  if (match === null || port > 65_535)
    throw new Error('host:port, as in 127.0.0.1:8080 or [::1]:8080; port 0 picks a free one');
  const host = bareHost(match[1] ?? '');
  return { host: host === '' ? '0.0.0.0' : host, port };
}

/** An address that others connect to, as text. */
export function reachable(text: string): string {
  const wrong = new Error('host:port that agents can connect to, as in reeve.example.com:50051');
  if (!/^[^:].*:\d+$/.test(text)) throw wrong;
  const { host, port } = address(text);
  if (isWildcard(host) || port === 0) throw wrong;
  return text;
}

/** Whether an address to listen on means all addresses of the machine. */
export function isWildcard(host: string): boolean {
  return host === '0.0.0.0' || /^[0:]+$/.test(host);
}

export function path(text: string): string {
  return resolve(text === '~' || text.startsWith('~/') ? join(homedir(), text.slice(1)) : text);
}

/** A file or folder of policies. If it is not there, somebody has mistyped it: without policies everything is denied. */
export function policyPath(text: string): string {
  const found = path(text);
  if (!existsSync(found)) throw new Error('a YAML file, or a folder of them, that exists');
  return found;
}

export function anyText(text: string): string {
  return text;
}

/** A number of seconds; fractions are for tests and impatient operators. */
export function seconds(text: string): number {
  const value = Number(text);
  if (!/^\d+(\.\d+)?$/.test(text) || value <= 0 || value > 10 * 365 * 86_400) {
    throw new Error('a number of seconds above 0, up to ten years');
  }
  return value;
}

export function wholeNumber(least: number, most: number): Parse<number> {
  return (text) => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < least || value > most)
      throw new Error(`a whole number from ${least} to ${most}`);
    return value;
  };
}

/** The most whole dollars for which a number can hold every micro-dollar exactly. */
const mostUsd = Math.floor(Number.MAX_SAFE_INTEGER / 1_000_000);

/** An amount of US dollars, as micro-dollars. */
export function usdAboveZero(text: string): number {
  const micros = parseUsd(text);
  if (typeof micros !== 'number' || micros <= 0 || micros > mostUsd * 1_000_000) {
    throw new Error(`US dollars above 0, up to ${mostUsd}, with at most six decimals`);
  }
  return micros;
}

export function choice<Choice extends string>(...choices: readonly Choice[]): Parse<Choice> {
  return (text) => {
    const found = choices.find((candidate) => candidate === text);
    if (found === undefined) throw new Error(choices.join(', '));
    return found;
  };
}

export function flag(text: string): boolean {
  const value = text.toLowerCase();
  if (['true', '1', 'yes'].includes(value)) return true;
  if (['false', '0', 'no'].includes(value)) return false;
  throw new Error('true or false');
}

/** The spec's rule for open registration: anything but a clear yes is a no. */
export function onlyClearYes(text: string): boolean {
  return ['1', 'true', 'yes'].includes(text.toLowerCase());
}

export function apiKey(text: string): string {
  const parsed = parseApiKey(text);
  if (!parsed.ok) throw new Error(parsed.problem);
  return text;
}

/** A web address to which paths can be appended. */
export function baseUrl(text: string): string {
  const parsed = URL.parse(text);
  const plain =
    parsed !== null && /^https?:$/.test(parsed.protocol) && parsed.username === '' && parsed.password === '';
  if (!plain || /[?#\s]/.test(text)) {
    throw new Error('a URL that starts with http:// or https://, without user name, query or fragment');
  }
  return text;
}

/** Where messages are sent to; the query may hold what the receiver needs. */
export function webhookUrl(text: string): string {
  const parsed = URL.parse(text);
  if (parsed === null || !/^https?:$/.test(parsed.protocol) || parsed.hash !== '' || /\s/.test(text)) {
    throw new Error('a URL that starts with http:// or https://, without fragment');
  }
  if (parsed.username !== '' || parsed.password !== '') {
    throw new Error('a URL without user name and password: messages are signed instead');
  }
  return text;
}

export function email(text: string): string {
  const parsed = parseEmail(text);
  if (parsed === undefined) throw new Error('the email of an account, as in name@example.com');
  return parsed.text;
}

export function longSecret(text: string): string {
  if (text.length < 16) throw new Error('a text of at least 16 characters');
  return text;
}

export function database(text: string): string {
  if (text === 'memory:') return text;
  try {
    parsePostgresUrl(text);
    return text;
  } catch (error) {
    throw new Error(`"memory:" or ${messageOf(error)}; leave it out for the embedded store`, { cause: error });
  }
}

/** One or more URLs of NATS servers. */
export function nats(text: string): string {
  parseNatsUrls(text);
  return text;
}

/** Addresses and networks, separated by commas. */
export function proxies(text: string): readonly string[] {
  const given = text.split(',').map((proxy) => proxy.trim());
  if (given.every(isProxy)) return given;
  throw new Error('addresses or networks separated by commas, as in 10.0.0.1, 10.1.0.0/16, ::1');
}

/** Host names and addresses that requests may use, separated by commas. */
export function hosts(text: string): readonly string[] {
  const given = text.split(',').map((host) => host.trim());
  if (given.every(isHostPattern)) return given;
  throw new Error(
    'host names or addresses separated by commas, as in reeve.example.com, 10.0.0.5, [fd00::5], *.example.com; * for any',
  );
}

function isHostPattern(text: string): boolean {
  if (text === '*') return true;
  const host = text.startsWith('*.') ? text.slice(2) : text;
  if (host === '' || /[\s/?#@\\*]/.test(host)) return false;
  const url = URL.parse(`http://${host}`);
  return url !== null && (host === text || (isIP(url.hostname) === 0 && url.port === ''));
}

function isProxy(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/');
  const version = isIP(address);
  if (version === 0 || rest.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128));
}
