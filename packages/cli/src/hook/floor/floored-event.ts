import { isObject } from '../../is-object.ts';
import type { EventObject } from '../event-members.ts';
import type { HookHost } from '../hook-host.ts';
import type { Command, FloorWords } from './floor-line.ts';
import { offFloor, onFloor } from './floor-line.ts';

/** What a hook does with a use of a tool that is allowed. */
export type Floored =
  /** The tool is no shell, or its command is on the floor already. */
  | { readonly kind: 'as_it_is' }
  | { readonly kind: 'input'; readonly input: EventObject }
  /** It would run, and not on the floor. */
  | { readonly kind: 'refused'; readonly reason: string };

/** The event as if its command had no floor: what is judged, and found again after the tool, is the command itself. */
export function withoutFloor(event: EventObject, host: HookHost, floor: FloorWords): EventObject {
  const place = host.shellOf(event);
  const taken = (members: EventObject, names: readonly string[]) =>
    replaced(members, names, (command) => offFloor(command, floor));
  if (place?.kind === 'event') return taken(event, place.members);
  const { tool_input: input } = event;
  return place?.kind === 'input' && isObject(input) ? { ...event, tool_input: taken(input, place.members) } : event;
}

/** The input by which the command of the tool runs on the floor. */
export function flooredEvent(event: EventObject, host: HookHost, floor: FloorWords, run: string): Floored {
  const place = host.shellOf(event);
  if (place === undefined) return { kind: 'as_it_is' };
  if (place.kind === 'unfit') return { kind: 'refused', reason: place.reason };
  const before = place.kind === 'event' ? event : event['tool_input'];
  if (!isObject(before))
    return { kind: 'refused', reason: `${host.name} gives its input in a form that cannot be replaced` };
  const after = replaced(before, place.members, (command) => onFloor(command, floor, run));
  if (JSON.stringify(after) === JSON.stringify(before)) return { kind: 'as_it_is' };
  if (place.kind === 'input') return { kind: 'input', input: after };
  return { kind: 'refused', reason: `${host.name} has not put the command on the floor, as the hook before said` };
}

function replaced(members: EventObject, names: readonly string[], change: (command: Command) => Command): EventObject {
  const changed = names.flatMap((name) => {
    const command = members[name];
    return isCommand(command) ? [[name, change(command)] as const] : [];
  });
  return { ...members, ...Object.fromEntries(changed) };
}

function isCommand(value: unknown): value is Command {
  return typeof value === 'string' || (Array.isArray(value) && value.every((word) => typeof word === 'string'));
}
