import type { Accounts, Invite, Session, SignOnProvider } from '@reeve/core';
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
  requirePasswords,
  resendInvite,
  revokeInvite,
  revokeSession,
  timestamp,
} from '@reeve/core';
import { createdAfter, createdPage } from '../created-page.ts';
import { cursorOf, placeOf } from '../cursor.ts';
import { fitting } from '../fitting.ts';
import { granted } from '../granted.ts';
import type { Handlers } from '../handler.ts';
import { HeadedAnswer } from '../handler.ts';
import { listedAccountJson } from '../present.ts';
import { HttpError } from '../problem.ts';
import { clearedCookie } from '../refresh-cookie.ts';

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
  /** The provider of a single sign-on, if there is one. */
  readonly provider: SignOnProvider | undefined;
  readonly publicUrl: () => string;
  /** Runs work after the answer that must not show in the answer or in its timing. */
  readonly afterwards: (work: () => Promise<void>) => void;
}

const nothing = new HeadedAnswer(undefined);
const signedOut = new HeadedAnswer(undefined, { 'set-cookie': clearedCookie });

export function accountHandlers(ports: AccountPorts): Pick<Handlers, AccountRoutes> {
  const { accounts, afterwards } = ports;
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
      const via = await logOut(accounts, refreshToken, from);
      const end = via === 'oidc' ? await ports.provider?.endUrl(`${ports.publicUrl()}/sign-in`) : undefined;
      if (end === undefined) return signedOut;
      return new HeadedAnswer(undefined, { 'set-cookie': clearedCookie, 'reeve-end-session': end });
    },
    createInvite: async ({ body }, { principal, from }) => {
      const { email, role, org_id: orgId = null, team_id: teamId = null } = body;
      return inviteMade(await createInvite(accounts, principal, { email, role, orgId, teamId }, from));
    },
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
      requirePasswords(accounts);
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

function inviteJson({ id, email, role, orgId, teamId, expiresAt }: Invite) {
  return { id, email, role, org_id: orgId, team_id: teamId, expires_at: timestamp(expiresAt) };
}

function listedInviteJson(invite: Invite) {
  return { ...inviteJson(invite), invited_by: invite.invitedBy, created_at: timestamp(invite.createdAt) };
}

function sessionJson(session: Session, currentId: string | undefined) {
  return {
    id: session.id,
    current: session.id === currentId,
    via: session.via,
    remember_me: session.rememberMe,
    created_at: timestamp(session.createdAt),
    last_used_at: timestamp(session.lastUsedAt),
    expires_at: timestamp(session.expiresAt),
    address: session.address,
    user_agent: session.userAgent,
  };
}
