import type { SessionGrant } from '@reeve/core';
import { HeadedAnswer } from './handler.ts';
import { accountJson } from './present.ts';
import { refreshCookie } from './refresh-cookie.ts';

/** The answer to a login: the access token in the body, the refresh token in the cookie. */
export function granted({ account, accessToken, expiresInSecs, refreshToken, refreshTtlSecs }: SessionGrant) {
  const body = { account: accountJson(account), access_token: accessToken, expires_in: expiresInSecs };
  return new HeadedAnswer(body, { 'set-cookie': refreshCookie(refreshToken, refreshTtlSecs) });
}
