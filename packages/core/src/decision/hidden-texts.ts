import type { Action, User } from '../action/index.ts';
import { redacted } from '../audit/index.ts';
import { NotRecorded } from '../policy/index.ts';

/** Whether a recorded text held a secret, or something like one. Whatever was there instead, nobody knows. */
export function isHidden(text: string): boolean {
  return text.includes(redacted);
}

/** The recorded value. Throws if anything in it was replaced: names may be as well, so no part of it is sure. */
export function shownJson(value: unknown, what: string): unknown {
  if (isHidden(JSON.stringify(value))) throw hidden(what);
  return value;
}

/** The recorded action, whose replaced members throw when they are read. */
export function shownAction(action: Action): Action {
  return shown(action, 'the action');
}

export function shownUser(user: User | null): User | null {
  return user === null ? null : shown(user, 'the user');
}

/** Members are read when they are asked for: some are not known at all, and say so then. */
function shown<Of extends object>(of: Of, what: string): Of {
  return new Proxy(of, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      const texts = Array.isArray(value) ? (value as unknown[]) : [value];
      if (texts.some((text) => typeof text === 'string' && isHidden(text))) throw hidden(`${String(name)} of ${what}`);
      return value;
    },
  });
}

function hidden(what: string): NotRecorded {
  return new NotRecorded(`secrets in ${what} are not recorded`);
}
