import { isObject } from '../is-object.ts';
import { MalformedEvent } from './hook-event.ts';

export type EventObject = Readonly<Record<string, unknown>>;

/** A text that must be there. */
export function textOf(event: EventObject, member: string): string {
  const value = optionalText(event, member);
  if (value === undefined) throw new MalformedEvent(`the event has no "${member}"`);
  return value;
}

/** The first of these members that is not empty. What is there and no text is no member of an event. */
export function optionalText(event: EventObject, ...members: readonly string[]): string | undefined {
  for (const member of members) {
    const value = Object.hasOwn(event, member) ? (event[member] ?? '') : '';
    if (typeof value !== 'string') throw new MalformedEvent(`"${member}" is no text`);
    if (value !== '') return value;
  }
  return undefined;
}

/** The texts of a list that must be one, if it is there. */
export function textsIn(event: EventObject, member: string): readonly string[] {
  const given = Object.hasOwn(event, member) ? (event[member] ?? []) : [];
  if (!Array.isArray(given) || !given.every((text) => typeof text === 'string'))
    throw new MalformedEvent(`"${member}" is no list of texts`);
  return given;
}

/** The folder of an event. */
export function folderOf(event: EventObject, member: string): string {
  const folder = textOf(event, member);
  if (!/^(?:\/|[A-Za-z]:[\\/])/.test(folder)) throw new MalformedEvent(`"${member}" is no absolute path`);
  return folder;
}

/** An object that must be there. */
export function inputOf(event: EventObject, member: string): EventObject {
  const value = Object.hasOwn(event, member) ? event[member] : undefined;
  if (!isObject(value)) throw new MalformedEvent(`"${member}" is no object`);
  return value;
}

/** The texts of all these members, each once. Which of them a tool heeds depends on the version of the host. */
export function allTexts(event: EventObject, ...members: readonly string[]): readonly string[] {
  const texts = members.map((member) => optionalText(event, member)).filter((text) => text !== undefined);
  return [...new Set(texts)];
}

export function objectOf(event: EventObject, member: string): EventObject {
  const value = event[member];
  return isObject(value) ? value : {};
}
