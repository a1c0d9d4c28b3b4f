import { setTimeout as sleep } from 'node:timers/promises';
import { CliError } from '../cli-error.ts';
import type { ActiveContext } from '../context/active-context.ts';
import type { Session } from '../context/sessions.ts';
import { readSession } from '../context/sessions.ts';
import { exchangeToken } from './exchange-token.ts';
import { isOfPerson, refreshPersonSession } from './person-session.ts';
import { ProblemError } from './problem-error.ts';

type SessionContext = Pick<ActiveContext, 'folder' | 'name' | 'apiUrl'>;

/** How long another command may take to keep the session that it has renewed. */
const patienceMs = [100, 300, 1000, 3000];

export interface Renewed {
  /** The session that was exchanged. Another command may have kept it meanwhile. */
  readonly from: Session;
  readonly to: Session;
}

/** The next session: made with the key of this one, or with its refresh token. */
export async function renewedSession(context: SessionContext, session: Session, timeoutMs: number): Promise<Renewed> {
  try {
    if (isOfPerson(session)) return await refreshed(context, session, timeoutMs);
    return { from: session, to: await exchangeToken(context.apiUrl, session.sourceKey, session.scopes, timeoutMs) };
  } catch (error) {
    if (!(error instanceof ProblemError) || error.problem.status !== 401) throw error;
    const words = isOfPerson(session)
      ? 'not logged in: the session has ended. Run "reeve login --sso" to log in'
      : 'not logged in: the API key of the session was rejected; it may have been revoked or rotated. Run "reeve login" to log in';
    throw new CliError(words, { cause: error });
  }
}

/** Each refresh token works once. Another command may have used this one since this command has read it. */
async function refreshed(context: SessionContext, session: Session, timeoutMs: number): Promise<Renewed> {
  const kept = await newerThan(context, session);
  if (kept !== undefined && kept.expiresAt * 1000 > Date.now()) return { from: kept, to: kept };
  if (kept !== undefined) return refreshed(context, kept, timeoutMs);
  try {
    return { from: session, to: await refreshPersonSession(session, timeoutMs) };
  } catch (error) {
    if (!(error instanceof ProblemError) || error.problem.code !== 'refresh_raced') throw error;
    for (const waitMs of patienceMs) {
      await sleep(waitMs);
      const winner = await newerThan(context, session);
      if (winner !== undefined) return { from: winner, to: winner };
    }
    throw error;
  }
}

async function newerThan({ folder, name, apiUrl }: SessionContext, session: Session): Promise<Session | undefined> {
  const kept = await readSession(folder, name);
  const isOther = kept !== undefined && kept.apiUrl === apiUrl && isOfPerson(kept) && kept.token !== session.token;
  return isOther ? kept : undefined;
}
