import type { Accounts, SessionGrant, Invite, Session } from '@reeve/core';
import {
  acceptInvite,
  changeAccount,
  changePassword,
  confirmReset,
  createInvite,
  listAccounts,
  listInvites,
  listSessions,
  logIn,
  logOut,
  ReeveError,
  refresh,
  register,
  requestReset,
  resendInvite,
  revokeInvite,
  revokeSession,
  timestamp,
} from '@reeve/core';
import { createdAfter, createdPage } from '../created-page.ts';
import { cursorOf, placeOf } from '../cursor.ts';
import { fitting } from '../fitting.ts';
import type { Handlers } from '../handler.ts';
import { HeadedAnswer } from '../handler.ts';
import { accountJson, listedAccountJson } from '../present.ts';
import { HttpError } from '../problem.ts';
import { clearedCookie, refreshCookie } from '../refresh-cookie.ts';

type AccountRoutes =
  | 'register'
  | 'logIn'
  | 'refreshSession'
  | 'logOut'
  | 'createInvite'
  | 'acceptInvite'
  | 'listInvites'
  | 'revokeInvite'
  | 'resendInvite'
  | 'requestReset'
  | 'confirmReset'
  | 'changePassword'
  | 'listSessions'
  | 'revokeSession'
  | 'listAccounts'
  | 'changeAccount';

export interface AccountPorts {
  readonly accounts: Accounts;
  /** Runs work after the answer that must not show in the answer or in its timing. */
  readonly afterwards: (work: () => Promise<void>) => void;
}

const nothing = new HeadedAnswer(undefined);
const signedOut = new HeadedAnswer(undefined, { 'set-cookie': clearedCookie });

export function accountHandlers({ accounts, afterwards }: AccountPorts): Pick<Handlers, AccountRoutes> {
  return {
    register: async ({ body: { email, password, name = '' } }, { from }) =>
      granted(await register(accounts, { email, password, name }, from)),
    logIn: async ({ body }, { from }) => {
      const { email, password, remember_me: rememberMe = false } = body;
      return granted(await logIn(accounts, { email, password, rememberMe }, from));
    },
    refreshSession: async (_input, { refreshToken, from }) => {
      try {
        return granted(await refresh(accounts, refreshToken, from));
      } catch (error) {
        throw refusedRefresh(error);
      }
    },
    logOut: async (_input, { refreshToken, from }) => {
      await logOut(accounts, refreshToken, from);
      return signedOut;
    },
    createInvite: async ({ body }, { principal, from }) =>
      inviteMade(await createInvite(accounts, principal, body, from)),
    acceptInvite: async ({ body: { token, password, name = '' } }, { from }) =>
      granted(await acceptInvite(accounts, { token, password, name }, from)),
    listInvites: async ({ query }, { principal }) => {
      const { per_page: perPage, cursor } = query;
      const found = await listInvites(accounts, principal, createdAfter(cursor), perPage + 1);
      return { ...createdPage(found.items, perPage, listedInviteJson), total: found.total };
    },
    revokeInvite: async ({ params }, { principal, from }) => {
      await revokeInvite(accounts, principal, params.id, from);
      return nothing;
    },
    resendInvite: async ({ params }, { principal, from }) =>
      inviteMade(await resendInvite(accounts, principal, params.id, from)),
    requestReset: ({ body }, { from }) => {
      afterwards(() => requestReset(accounts, body.email, from));
      return nothing;
    },
    confirmReset: async ({ body }, { from }) => {
      await confirmReset(accounts, body, from);
      return nothing;
    },
    changePassword: async ({ body }, { principal, from }) => {
      const { current_password: currentPassword, password } = body;
      await changePassword(accounts, principal, { currentPassword, password }, from);
      return signedOut;
    },
    listSessions: async ({ query }, { principal }) => {
      const sessions = await listSessions(accounts, principal);
      const start = placeOf(query.cursor) ?? 0;
      const items = fitting(sessions.slice(start, start + query.per_page), (session) =>
        sessionJson(session, principal.login?.sessionId),
      );
      const end = start + items.length;
      return {
        items,
        next_cursor: cursorOf(end < sessions.length ? end : null),
        total: sessions.length,
      };
    },
    revokeSession: async ({ params }, { principal, from }) => {
      await revokeSession(accounts, principal, params.id, from);
      return nothing;
    },
    listAccounts: async ({ query }, { principal }) => {
      const { per_page: perPage, cursor } = query;
      const found = await listAccounts(accounts, principal, createdAfter(cursor), perPage + 1);
      return { ...createdPage(found.items, perPage, listedAccountJson), total: found.total };
    },
    changeAccount: async ({ params, body }, { principal, from }) =>
      listedAccountJson(await changeAccount(accounts, principal, params.id, body, from)),
  };
}

function granted({ account, accessToken, expiresInSecs, refreshToken, refreshTtlSecs }: SessionGrant) {
  const body = { account: accountJson(account), access_token: accessToken, expires_in: expiresInSecs };
  return new HeadedAnswer(body, { 'set-cookie': refreshCookie(refreshToken, refreshTtlSecs) });
}

/**
 * A cookie of an ended session is cleared. A cookie that lost a race is kept, because a good one may have replaced it.
 */
function refusedRefresh(error: unknown): unknown {
  if (!(error instanceof ReeveError) || error.code !== 'session_ended') return error;
  return new HttpError('session_ended', error.message, {}, { 'set-cookie': clearedCookie });
}

function inviteMade({ invite, token }: { readonly invite: Invite; readonly token: string }) {
  return { invite: inviteJson(invite), token };
}

function inviteJson({ id, email, role, expiresAt }: Invite) {
  return { id, email, role, expires_at: timestamp(expiresAt) };
}

function listedInviteJson(invite: Invite) {
  return { ...inviteJson(invite), invited_by: invite.invitedBy, created_at: timestamp(invite.createdAt) };
}

function sessionJson(session: Session, currentId: string | undefined) {
  return {
    id: session.id,
    current: session.id === currentId,
    remember_me: session.rememberMe,
    created_at: timestamp(session.createdAt),
    last_used_at: timestamp(session.lastUsedAt),
    expires_at: timestamp(session.expiresAt),
    address: session.address,
    user_agent: session.userAgent,
  };
}
