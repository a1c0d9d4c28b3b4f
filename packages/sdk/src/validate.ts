import { ReeveInvalidRequest } from './errors.ts';
import { longestTimerMs } from './process-hold.ts';

export function requireText(member: string, value: string | undefined): string {
  if (typeof value === 'string' && value !== '') return value;
  throw new ReeveInvalidRequest(`${member}: must be a non-empty text`);
}

export function requireWhole(member: string, value: number, most: number): number {
  if (Number.isInteger(value) && value >= 0 && value <= most) return value;
  throw new ReeveInvalidRequest(`${member}: must be a whole number from 0 to ${most}`);
}

export function requireMicros(member: string, value: number): number {
  return requireWhole(member, value, Number.MAX_SAFE_INTEGER);
}

export function requireDuration(member: string, value: number): number {
  if (value > 0 && value <= longestTimerMs) return value;
  throw new ReeveInvalidRequest(`${member}: must be a time in milliseconds, more than 0`);
}
