/** One line of a diff: removed, added or unchanged. */
export interface DiffLine {
  readonly kind: 'removed' | 'added' | 'same';
  readonly text: string;
}

/** Beyond this, the table of common lines would be too large, and the diff shows everything as replaced. */
const mostCells = 4_000_000;

/** The line-by-line changes from one text to the other. The longest common subsequence of lines stays. */
export function lineDiff(before: string, after: string): DiffLine[] {
  const [old, young] = [linesOf(before), linesOf(after)];
  const width = young.length + 1;
  if ((old.length + 1) * width > mostCells) {
    return [...old.map(line('removed')), ...young.map(line('added'))];
  }
  const common = new Uint32Array((old.length + 1) * width);
  for (let i = old.length - 1; i >= 0; i--) {
    for (let j = young.length - 1; j >= 0; j--) {
      const [down = 0, right = 0, both = 0] = [
        common[(i + 1) * width + j],
        common[i * width + j + 1],
        common[(i + 1) * width + j + 1],
      ];
      common[i * width + j] = old[i] === young[j] ? both + 1 : Math.max(down, right);
    }
  }
  const found: DiffLine[] = [];
  let i = 0;
  let j = 0;
  while (i < old.length && j < young.length) {
    if (old[i] === young[j]) {
      found.push({ kind: 'same', text: old[i++] ?? '' });
      j++;
    } else if ((common[(i + 1) * width + j] ?? 0) >= (common[i * width + j + 1] ?? 0)) {
      found.push({ kind: 'removed', text: old[i++] ?? '' });
    } else found.push({ kind: 'added', text: young[j++] ?? '' });
  }
  return [...found, ...old.slice(i).map(line('removed')), ...young.slice(j).map(line('added'))];
}

function linesOf(text: string): string[] {
  return text.replace(/\n$/, '').split('\n');
}

function line(kind: DiffLine['kind']): (text: string) => DiffLine {
  return (text) => ({ kind, text });
}

/** The changed lines, each with some context. */
export function nearChanges(lines: readonly DiffLine[], around = 2): (DiffLine | 'gap')[] {
  const near = new Set(
    lines.flatMap(({ kind }, at) =>
      kind === 'same' ? [] : Array.from({ length: 2 * around + 1 }, (_, step) => at - around + step),
    ),
  );
  const shown: (DiffLine | 'gap')[] = [];
  lines.forEach((each, at) => {
    if (near.has(at)) shown.push(each);
    else if (shown.length > 0 && shown.at(-1) !== 'gap') shown.push('gap');
  });
  return shown.at(-1) === 'gap' ? shown.slice(0, -1) : shown;
}
