import { hash } from 'node:crypto';
import { style } from './docs-page.ts';

/** Allows the page's own style by its hash, nothing else, and no script at all. */
const policy = `default-src 'none'; style-src 'sha256-${hash('sha256', style, 'base64')}'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`;

/** The headers of every answer. */
export function securityHeaders(tls: boolean): Readonly<Record<string, string>> {
  return {
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'content-security-policy': policy,
    'cache-control': 'no-store',
    ...(tls ? { 'strict-transport-security': 'max-age=31536000' } : {}),
  };
}
