/** A plain text table: the first column is left-aligned, the others right-aligned. A null row is a rule. */
export function textTable(header: readonly string[], rows: readonly (readonly string[] | null)[]): string {
  const cells = [header, ...rows.filter((row) => row !== null)];
  const widths = header.map((_, column) => Math.max(...cells.map((row) => (row[column] ?? '').length)));
  const rule = widths.map((width) => '─'.repeat(width)).join('──');
  const line = (row: readonly string[]) =>
    widths
      .map((width, column) => (column === 0 ? (row[column] ?? '').padEnd(width) : (row[column] ?? '').padStart(width)))
      .join('  ')
      .trimEnd();
  return [line(header), rule, ...rows.map((row) => (row === null ? rule : line(row)))].join('\n');
}

export function count(value: number): string {
  return Number.isFinite(value) ? Math.round(value).toLocaleString('en-US') : '–';
}

export function fixed(value: number, digits = 1): string {
  return Number.isFinite(value) ? value.toFixed(digits) : '–';
}

/** Microseconds, or milliseconds for large values. */
export function duration(micros: number): string {
  if (!Number.isFinite(micros)) return '–';
  return micros < 1000 ? `${Math.round(micros)} µs` : `${(micros / 1000).toFixed(micros < 10_000 ? 2 : 1)} ms`;
}

export function megabytes(bytes: number): string {
  return Number.isFinite(bytes) ? `${Math.round(bytes / 1024 / 1024)} MB` : '–';
}

/** A ratio with its range: `1.34× (1.31–1.40)`. */
export function ratio(spread: { readonly median: number; readonly least: number; readonly most: number }): string {
  if (Number.isNaN(spread.median)) return '–';
  return `${times(spread.median)} (${figure(spread.least)}–${figure(spread.most)})`;
}

function times(value: number): string {
  return Number.isFinite(value) ? `${figure(value)}×` : figure(value);
}

function figure(value: number): string {
  return Number.isFinite(value) ? value.toFixed(2) : '∞';
}
