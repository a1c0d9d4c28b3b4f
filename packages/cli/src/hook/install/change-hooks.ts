import type { HookHostName } from '@reeve/contract/names';
import { isObject } from '../../is-object.ts';
import { isHookCommand } from './hook-command-line.ts';

type Members = Readonly<Record<string, unknown>>;

/** The settings with the entries of Reeve in place of those that were there before. Everything else stays. */
export function withHooks(settings: Members, host: HookHostName, events: Readonly<Record<string, object>>): Members {
  const { hooks: others, ...rest } = withoutHooks(settings, host);
  const kept = isObject(others) ? others : {};
  const added = Object.entries(events).map(([event, entry]) => {
    const present = kept[event];
    return [event, [...(Array.isArray(present) ? present : []), entry]];
  });
  return { ...rest, hooks: { ...kept, ...Object.fromEntries(added) } };
}

/** The settings without the entries of Reeve, and without what only held them. */
export function withoutHooks(settings: Members, host: HookHostName): Members {
  const { hooks } = settings;
  if (!isObject(hooks)) return settings;
  const events = Object.entries(hooks).map(([event, entries]) => [
    event,
    Array.isArray(entries) ? cleared(entries, host) : entries,
  ]);
  const left = events.filter(([event, entries]) => !isEmptied(entries, hooks[String(event)]));
  if (left.length > 0 || Object.keys(hooks).length === 0) return { ...settings, hooks: Object.fromEntries(left) };
  const { hooks: _, ...rest } = settings;
  return rest;
}

function isEmptied(now: unknown, before: unknown): boolean {
  return Array.isArray(now) && now.length === 0 && Array.isArray(before) && before.length > 0;
}

/** An entry is a command, or a group of them. */
function cleared(entries: readonly unknown[], host: HookHostName): unknown[] {
  return entries.flatMap((entry) => {
    if (!isObject(entry)) return [entry];
    if (isOurs(entry, host)) return [];
    const { hooks } = entry;
    if (!Array.isArray(hooks) || !hooks.some((hook) => isOurs(hook, host))) return [entry];
    const others = hooks.filter((hook) => !isOurs(hook, host));
    return others.length === 0 ? [] : [{ ...entry, hooks: others }];
  });
}

function isOurs(entry: unknown, host: HookHostName): boolean {
  const command = isObject(entry) ? entry['command'] : undefined;
  return typeof command === 'string' && isHookCommand(command, host);
}
