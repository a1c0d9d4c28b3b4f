import { ReeveInvalidRequest } from './errors.ts';
import { requireMicros } from './validate.ts';

const decimal = /^(\d{1,9})(?:\.(\d{1,6}))?$/;

/**
 * Converts US dollars to micro-dollars, the unit of all amounts. A string is exact (`usd('0.0125')` is 12500). A number
 * is rounded to the nearest micro-dollar.
 */
export function usd(amount: string | number): number {
  if (typeof amount === 'number') return requireMicros('amount', Math.round(amount * 1_000_000));
  const match = decimal.exec(amount);
  if (match === null) throw new ReeveInvalidRequest('amount: must be dollars with at most six decimals, as "1.37"');
  const [, whole = '', fraction = ''] = match;
  return Number(whole) * 1_000_000 + Number(fraction.padEnd(6, '0'));
}
