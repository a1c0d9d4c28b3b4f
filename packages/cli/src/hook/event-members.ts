import { isObject } from '../is-object.ts';
import { MalformedEvent } from './hook-event.ts';

export type EventObject = Readonly<Record<string, unknown>>;

/** A text that must be there. */
export function textOf(event: EventObject, member: string): string {
  const value = optionalText(event, member);
  if (value === undefined) throw new MalformedEvent(`the event has no "${member}"`);
  return value;
}

/** The first of these members that is a text and not empty. */
export function optionalText(event: EventObject, ...members: readonly string[]): string | undefined {
  for (const member of members) {
    const value = Object.hasOwn(event, member) ? event[member] : undefined;
    if (typeof value === 'string' && value !== '') return value;
  }
  return undefined;
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
