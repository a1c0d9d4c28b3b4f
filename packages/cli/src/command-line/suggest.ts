/** The known word closest to a mistyped one. Undefined if none is near. */
export function suggest(typed: string, known: readonly string[]): string | undefined {
  const near = known
    .map((word) => ({ word, distance: distanceBetween(typed.toLowerCase(), word.toLowerCase()) }))
    .filter(({ word, distance }) => distance <= Math.max(1, Math.floor(word.length / 3)))
    .toSorted((a, b) => a.distance - b.distance);
  return near[0]?.word ?? known.find((word) => typed.length > 1 && word.startsWith(typed));
}

/** `Did you mean …?`, if there is a suggestion. */
export function didYouMean(typed: string, known: readonly string[]): string {
  const word = suggest(typed, known);
  return word === undefined ? '' : ` Did you mean "${word}"?`;
}

/** How many letters must be inserted, removed, replaced or swapped with their neighbour. */
function distanceBetween(from: string, to: string): number {
  const rows: number[][] = [Array.from({ length: to.length + 1 }, (_, column) => column)];
  for (let row = 1; row <= from.length; row++) {
    const line = [row];
    for (let column = 1; column <= to.length; column++) {
      const isSame = from[row - 1] === to[column - 1];
      const isSwapped = row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      line.push(
        Math.min(
          cell(rows[row - 1], column) + 1,
          cell(line, column - 1) + 1,
          cell(rows[row - 1], column - 1) + (isSame ? 0 : 1),
          isSwapped ? cell(rows[row - 2], column - 2) + 1 : Number.POSITIVE_INFINITY,
        ),
      );
    }
    rows.push(line);
  }
  return cell(rows.at(-1), to.length);
}

function cell(line: readonly number[] | undefined, column: number): number {
  return line?.[column] ?? Number.POSITIVE_INFINITY;
}
