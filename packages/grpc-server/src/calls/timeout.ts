const unitMs: ReadonlyMap<string, number> = new Map([
  ['H', 3_600_000],
  ['M', 60_000],
  ['S', 1000],
  ['m', 1],
  ['u', 1e-3],
  ['n', 1e-6],
]);
const mostDigits = 8;

/** The milliseconds of a `grpc-timeout`: up to eight digits and a unit. NaN if it is anything else. */
export function timeoutOf(value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  const digits = value.length - 1;
  if (digits < 1 || digits > mostDigits) return Number.NaN;
  let number = 0;
  for (let at = 0; at < digits; at++) {
    const digit = value.charCodeAt(at) - 0x30;
    if (digit < 0 || digit > 9) return Number.NaN;
    number = number * 10 + digit;
  }
  return number * (unitMs.get(value[digits] ?? '') ?? Number.NaN);
}
