import type { FastifyRequest } from 'fastify';
import { cookieOf } from './cookie-of.ts';

const name = 'reeve_oidc';
/** How long a person may take at the provider. */
export const flowTtlSecs = 600;

/**
 * Binds a single sign-on to the browser that began it. The browser must send it when it comes back from the provider,
 * so it is Lax; the session's own cookie stays Strict.
 */
export function flowCookie(sealed: string, isSecure: boolean): string {
  return `${name}=${sealed}; ${attributes(isSecure)}; Max-Age=${flowTtlSecs}`;
}

export function clearedFlow(isSecure: boolean): string {
  return `${name}=; ${attributes(isSecure)}; Max-Age=0`;
}

function attributes(isSecure: boolean): string {
  return `Path=/api/v1/auth/oidc; HttpOnly; ${isSecure ? 'Secure; ' : ''}SameSite=Lax`;
}

export function flowOf(request: FastifyRequest): string | undefined {
  return cookieOf(request, name);
}

/** Browsers ask for HTML by name. Programs take anything, and get a problem. */
export function isForPerson({ headers: { accept = '' } }: FastifyRequest): boolean {
  return /\btext\/html\b/i.test(accept);
}
