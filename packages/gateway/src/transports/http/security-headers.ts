import { hash } from 'node:crypto';
import { style } from './docs-page.ts';

/** Allows the page's own style by its hash, forms to the given places, nothing else, and no script at all. */
export function pagePolicy(forms: "'none'" | "'self'"): string {
  const styles = `'sha256-${hash('sha256', style, 'base64')}'`;
  return `default-src 'none'; style-src ${styles}; frame-ancestors 'none'; base-uri 'none'; form-action ${forms}`;
}

const policy = pagePolicy("'none'");

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
