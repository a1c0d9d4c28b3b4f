import type { Upstream } from './model-config.ts';

/**
 * The path at the upstream for a path of this proxy. Base URLs mean what they mean to the clients of each provider: for
 * OpenAI they hold the version (`https://api.openai.com/v1`), for Anthropic they do not. A base URL that is only a host,
 * or that ends in `/v1`, is understood for both.
 */
export function upstreamPath(
  { kind, baseUrl }: Pick<Upstream, 'kind' | 'baseUrl'>,
  path: string,
  query: string,
): string {
  const base = baseUrl.pathname.replace(/(?<!\/)\/+$/, '');
  const isVersioned = base.endsWith('/v1') || (kind === 'openai' && base !== '');
  return `${base}${isVersioned ? path.slice('/v1'.length) : path}${query}`;
}
