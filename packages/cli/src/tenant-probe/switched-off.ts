import type { Answer } from './caller.ts';
import { codeOf } from './caller.ts';

/** Whether the gateway has no account store, or no passwords: it then answers everybody the same. */
export function isSwitchedOff(answer: Answer): boolean {
  return ['accounts_unavailable', 'password_off'].includes(codeOf(answer));
}
