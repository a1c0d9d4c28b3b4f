import { UsageError } from '../cli-error.ts';

/** The address of a gateway with default settings. */
export const defaultApiUrl = 'http://127.0.0.1:8080';

/** Normalises a base URL: without a trailing slash, so that the same place has one spelling. */
export function parseApiUrl(text: string, source: string): string {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new UsageError(`${source} must be a URL such as https://reeve.example.com, not "${text}"`);
  }
  // A password would be visible wherever the URL is.
  if (url.username !== '' || url.password !== '') throw new UsageError(`${source} must not hold a user or a password`);
  if (url.search !== '' || url.hash !== '') throw new UsageError(`${source} must not have "?" or "#" in it`);
  return `${url.origin}${url.pathname.replace(/(?<!\/)\/+$/, '')}`;
}

/** Whether two texts name the same URL. */
export function isSameUrl(one: string, other: string): boolean {
  const form = (text: string) => {
    const url = URL.parse(text);
    return url === null ? text : `${url.origin}${url.pathname.replace(/(?<!\/)\/+$/, '')}`;
  };
  return form(one) === form(other);
}
