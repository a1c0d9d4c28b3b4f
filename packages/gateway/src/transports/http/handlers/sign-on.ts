import type { Accounts, Randomness, SignOnAnswer, SignOnProvider, SignOnSecrets } from '@reeve/core';
import {
  invalid,
  logInWithOidc,
  makeCliCode,
  noteFailedSignOn,
  openCliSession,
  ReeveError,
  timestamp,
} from '@reeve/core';
import { clearedFlow, flowCookie, flowTtlSecs } from '../flow-cookie.ts';
import { granted } from '../granted.ts';
import type { Handlers } from '../handler.ts';
import { HeadedAnswer } from '../handler.ts';
import { refreshCookie } from '../refresh-cookie.ts';
import { returnPath } from '../return-path.ts';

type SignOnRoutes = 'startSignOn' | 'finishSignOn' | 'makeCliCode' | 'openCliSession';

export interface SignOnPorts {
  readonly accounts: Accounts;
  /** Undefined if there is no single sign-on. */
  readonly provider: SignOnProvider | undefined;
  readonly randomness: Randomness;
  /** The address that the browser knows, without a slash at its end. */
  readonly publicUrl: () => string;
  readonly seal: (text: string) => string;
  readonly open: (sealed: string) => string | undefined;
  readonly now: () => number;
  readonly onOutcome: (outcome: string) => void;
}

/** A sign-on on its way. The browser keeps it, sealed. */
interface Flow extends SignOnSecrets {
  readonly returnTo: string;
  readonly beganAt: number;
}

/** A gateway's clock may be behind that of the one that began. */
const toleranceMs = 60_000;

export function signOnHandlers(ports: SignOnPorts): Pick<Handlers, SignOnRoutes> {
  const { accounts, randomness, publicUrl } = ports;
  const isSecure = () => publicUrl().startsWith('https:');
  const redirectUri = () => `${publicUrl()}/api/v1/auth/oidc/callback`;
  return {
    startSignOn: ({ query }, { wantsPage }) =>
      orSignInPage(ports, wantsPage, async () => {
        const provider = providerOf(ports);
        const returnTo = returnPath(query.return_to ?? '/');
        if (returnTo === undefined) throw invalid('query.return_to', 'must be a path of this gateway, as in /ops');
        const secrets = {
          state: randomness.base64url(32),
          nonce: randomness.base64url(32),
          verifier: randomness.base64url(32),
        };
        const flow: Flow = { ...secrets, returnTo, beganAt: ports.now() };
        const location = await provider.startUrl(secrets, redirectUri());
        return redirect(location, [flowCookie(ports.seal(JSON.stringify(flow)), isSecure())]);
      }),
    finishSignOn: ({ query }, { flow: sealed, wantsPage, from }) =>
      orSignInPage(ports, wantsPage, async () => {
        const provider = providerOf(ports);
        const flow = flowOf(ports, sealed, query);
        const person = await provider.personBehind(query, flow, redirectUri()).catch(async (error: unknown) => {
          if (error instanceof ReeveError) await noteFailedSignOn(accounts, error.code, from);
          throw error;
        });
        const { refreshToken, refreshTtlSecs } = await logInWithOidc(accounts, person, from);
        ports.onOutcome('ok');
        return redirect(flow.returnTo, [refreshCookie(refreshToken, refreshTtlSecs), clearedFlow(isSecure())]);
      }),
    makeCliCode: async ({ body }, { principal, refreshToken }) => {
      const { code, expiresAt } = await makeCliCode(accounts, principal, body.challenge, refreshToken);
      return { code, expires_at: timestamp(expiresAt) };
    },
    openCliSession: async ({ body }, { from }) => granted(await openCliSession(accounts, body, from)),
  };
}

function providerOf({ provider }: SignOnPorts): SignOnProvider {
  if (provider !== undefined) return provider;
  throw new ReeveError('sign_on_off', 'single sign-on is not configured on this gateway');
}

/** The sign-on that this browser has begun, if the provider answers to that one. */
function flowOf(ports: SignOnPorts, sealed: string | undefined, { state }: SignOnAnswer): Flow {
  const text = sealed === undefined ? undefined : ports.open(sealed);
  const flow = text === undefined ? undefined : (JSON.parse(text) as Flow);
  const ageMs = flow === undefined ? Number.NaN : ports.now() - flow.beganAt;
  const isInTime = ageMs > -toleranceMs && ageMs < flowTtlSecs * 1000;
  if (flow !== undefined && isInTime && flow.state === state) return flow;
  throw new ReeveError(
    'sign_on_failed',
    `this browser has not begun this single sign-on, or too long ago; begin again at ${ports.publicUrl()}/sign-in`,
  );
}

type Redirection = HeadedAnswer;

function redirect(location: string, cookies: string[]): Redirection {
  return new HeadedAnswer(undefined, { location, 'set-cookie': cookies });
}

/** Whoever sees the answer is led to a page that explains the failure. A program gets the problem. */
async function orSignInPage(
  ports: SignOnPorts,
  wantsPage: boolean | undefined,
  work: () => Promise<Redirection>,
): Promise<Redirection> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ReeveError)) throw error;
    ports.onOutcome(error.code);
    if (wantsPage !== true) throw error;
    const code = error.code === 'invalid_argument' ? 'sign_on_failed' : error.code;
    return redirect(`/sign-in?error=${code}`, [clearedFlow(ports.publicUrl().startsWith('https:'))]);
  }
}
