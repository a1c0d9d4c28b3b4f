/** A duration in rough words, as a person would say it. */
export function coarseDuration(seconds: number): string {
  if (seconds < 60) return 'less than a minute';
  if (seconds < 90 * 60) return counted(Math.round(seconds / 60), 'minute');
  if (seconds < 48 * 3600) return counted(Math.round(seconds / 3600), 'hour');
  return counted(Math.round(seconds / 86_400), 'day');
}

export function counted(count: number, what: string, plural = `${what}s`): string {
  return `${count} ${count === 1 ? what : plural}`;
}
