import type { PageEnd, PeoplePlace } from '@reeve/core';
import { HttpError } from './problem.ts';

/**
 * Where a list continues, as an opaque text. It names a place and grants nothing: access is checked again from there.
 */
export function cursorOf(place: number | string | null): string | null {
  return place === null ? null : Buffer.from(`v1:${place}`).toString('base64url');
}

export function placeOf(cursor: string | undefined): number | undefined {
  if (cursor === undefined) return undefined;
  const place = /^v1:(\d{1,16})$/.exec(Buffer.from(cursor, 'base64url').toString('latin1'))?.[1];
  if (place !== undefined && cursorOf(Number(place)) === cursor) return Number(place);
  throw notGiven();
}

/** The same for a list of agents, which continues after a place or after an agent. */
export function agentPlaceOf(cursor: string | undefined): number | string | undefined {
  if (cursor === undefined) return undefined;
  const key = /^v1:((?:[\w.-]{0,128}\/){2}[\w.-]{1,128})$/.exec(
    Buffer.from(cursor, 'base64url').toString('latin1'),
  )?.[1];
  return key !== undefined && cursorOf(key) === cursor ? key : placeOf(cursor);
}

/** The same for a list that continues after a record, by its id. */
export function cursorAfter(id: string | null): string | null {
  return id === null ? null : Buffer.from(`v1:${id}`).toString('base64url');
}

export function idOf(cursor: string | undefined): string | undefined {
  if (cursor === undefined) return undefined;
  const id = /^v1:([A-Za-z0-9._-]{1,128})$/.exec(Buffer.from(cursor, 'base64url').toString('latin1'))?.[1];
  if (id !== undefined && cursorAfter(id) === cursor) return id;
  throw notGiven();
}

/** The same for a list sorted by time. */
export function cursorAfterPlace(last: PageEnd | null): string | null {
  return last === null ? null : Buffer.from(`v1:${last.at}:${last.id}`).toString('base64url');
}

export function pageEndOf(cursor: string | undefined): PageEnd | undefined {
  if (cursor === undefined) return undefined;
  const match = /^v1:(\d{1,15}):([A-Za-z0-9_-]{1,64})$/.exec(Buffer.from(cursor, 'base64url').toString('latin1'));
  const last = { at: Number(match?.[1]), id: match?.[2] ?? '' };
  if (match !== null && cursorAfterPlace(last) === cursor) return last;
  throw notGiven();
}

/** The same for people, who are counted from one entry of the log on. */
export function cursorOfPeople(place: PeoplePlace | null): string | null {
  return place === null ? null : Buffer.from(`v1:${place.before}:${place.lastBefore}`).toString('base64url');
}

export function peoplePlaceOf(cursor: string | undefined): PeoplePlace | undefined {
  if (cursor === undefined) return undefined;
  const match = /^v1:(\d{1,16}):(\d{1,16})$/.exec(Buffer.from(cursor, 'base64url').toString('latin1'));
  const place = { before: Number(match?.[1]), lastBefore: Number(match?.[2]) };
  if (match !== null && cursorOfPeople(place) === cursor) return place;
  throw notGiven();
}

/** Where a list of the runs of a user goes on: in the stretch of the log before an entry, after a run. */
export interface UserRunsPlace {
  readonly before: number;
  readonly end?: PageEnd | undefined;
}

export function cursorOfUserRuns(place: UserRunsPlace | null): string | null {
  if (place === null) return null;
  const { before, end } = place;
  return cursorOf(end === undefined ? before : `${before}:${end.at}:${end.id}`);
}

export function userRunsPlaceOf(cursor: string | undefined): UserRunsPlace | undefined {
  if (cursor === undefined) return undefined;
  const text = Buffer.from(cursor, 'base64url').toString('latin1');
  const match = /^v1:(\d{1,16})(?::(\d{1,15}):([A-Za-z0-9_-]{1,64}))?$/.exec(text);
  const [, before, at, id] = match ?? [];
  const end = at === undefined || id === undefined ? undefined : { at: Number(at), id };
  const place = { before: Number(before), end };
  if (match !== null && cursorOfUserRuns(place) === cursor) return place;
  throw notGiven();
}

function notGiven(): HttpError {
  const detail = 'is not a cursor that this list has given';
  return new HttpError('validation_failed', `/query/cursor: ${detail}`, {
    errors: [{ pointer: '/query/cursor', detail }],
  });
}
