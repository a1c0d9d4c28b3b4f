import { createHash, randomBytes } from 'node:crypto';
import { withLoopbackRedirect } from './loopback-redirect.ts';

/** A code from the browser, and what proves that it was made for this command. */
export interface BrowserCode {
  readonly code: string;
  readonly verifier: string;
}

const words = {
  done: 'You are signed in. You can close this window.',
  late: 'nobody has signed in by the browser within ten minutes',
};

/**
 * Gets a code from the browser of the person on this computer. The page of the gateway sends the browser to this command
 * once the person has let the command in.
 */
export function askBrowser(apiUrl: string, show: (url: string) => void): Promise<BrowserCode> {
  const verifier = randomBytes(32).toString('base64url');
  const state = randomBytes(16).toString('base64url');
  const challenge = createHash('sha256').update(verifier).digest('hex');
  return withLoopbackRedirect(words, async ({ port, answer }) => {
    show(`${apiUrl}/cli-login?${new URLSearchParams({ port: String(port), challenge, state }).toString()}`);
    const parameters = await answer(state, (given) => /^[\w-]{1,128}$/.test(given.get('code') ?? ''));
    return { code: parameters.get('code') ?? '', verifier };
  });
}
