import { isObject } from '../is-object.ts';
import type { Entries } from './private-entries.ts';
import { entriesIn, readText } from './private-entries.ts';
import { changePrivateFile } from './private-file.ts';
import type { ReeveFolder } from './reeve-folder.ts';
import { writeYaml } from './write-yaml.ts';

/** The result of a login: a token, and the key that renews it. */
export interface Session {
  readonly token: string;
  /** Unix seconds. */
  readonly expiresAt: number;
  readonly scopes: readonly string[];
  readonly sourceKey: string;
  /** The only URL that the token is sent to. */
  readonly apiUrl: string;
}

/** The session of a context, or of a URL without a context. */
export async function readSession(folder: ReeveFolder, name: string): Promise<Session | undefined> {
  const entries = await readEntries(folder);
  return Object.hasOwn(entries, name) ? sessionOf(entries[name]) : undefined;
}

/** The names that have sessions. */
export async function sessionNames(folder: ReeveFolder): Promise<string[]> {
  const entries = await readEntries(folder);
  return Object.keys(entries).filter((name) => sessionOf(entries[name]) !== undefined);
}

export async function saveSession(folder: ReeveFolder, name: string, session: Session): Promise<void> {
  await changeEntries(folder, (entries) => ({ ...entries, [name]: entryOf(session) }));
}

/** Saves a renewed session, unless the user logged out or in again meanwhile. */
export async function renewSession(folder: ReeveFolder, name: string, from: Session, to: Session): Promise<void> {
  await changeEntries(folder, (entries) => {
    const present = Object.hasOwn(entries, name) ? sessionOf(entries[name]) : undefined;
    const isSame = present?.sourceKey === from.sourceKey && present.apiUrl === from.apiUrl;
    return isSame ? { ...entries, [name]: entryOf(to) } : undefined;
  });
}

/** Returns whether there was a session. */
export async function removeSession(folder: ReeveFolder, name: string): Promise<boolean> {
  const entries = await readEntries(folder);
  if (!Object.hasOwn(entries, name)) return false;
  const wasSession = sessionOf(entries[name]) !== undefined;
  await changeEntries(folder, (present) => {
    const { [name]: _, ...others } = present;
    return others;
  });
  return wasSession;
}

async function changeEntries(folder: ReeveFolder, change: (entries: Entries) => Entries | undefined): Promise<void> {
  await changePrivateFile(folder, folder.credentials, async (text) => {
    const changed = change(await entriesIn(text, 'sessions'));
    return changed === undefined ? undefined : writeYaml({ sessions: changed });
  });
}

function readEntries(folder: ReeveFolder): Promise<Entries> {
  return entriesIn(readText(folder, folder.credentials), 'sessions');
}

/** Undefined if a member is missing or has the wrong type. */
function sessionOf(entry: unknown): Session | undefined {
  if (!isObject(entry)) return undefined;
  const { token, expires_at: expiresAt, scopes, source_key: sourceKey, api_url: apiUrl } = entry;
  const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
  if (!isText(token) || !isText(sourceKey) || !isText(apiUrl)) return undefined;
  if (typeof expiresAt !== 'number' || !Number.isFinite(expiresAt)) return undefined;
  if (!Array.isArray(scopes) || !scopes.every(isText)) return undefined;
  return { token, expiresAt, scopes, sourceKey, apiUrl };
}

function entryOf(session: Session): Readonly<Record<string, unknown>> {
  return {
    token: session.token,
    expires_at: session.expiresAt,
    scopes: session.scopes,
    source_key: session.sourceKey,
    api_url: session.apiUrl,
  };
}
