/** Pictures as SVG text. They follow the reader's light or dark scheme and need only a browser. */
export interface Bar {
  /** Index into the names of the series, which sets the colour. */
  readonly series: number;
  readonly value: number;
  readonly text: string;
  /** The range of the value, drawn as a thin line over the end of the bar. */
  readonly range?: { readonly least: number; readonly most: number };
}

export interface BarPicture {
  readonly title: string;
  readonly subtitle: string;
  readonly series: readonly string[];
  readonly groups: readonly { readonly label: string; readonly bars: readonly Bar[] }[];
  /** A line for comparison, in the bars' unit. */
  readonly mark?: { readonly value: number; readonly text: string };
}

export interface LinePicture {
  readonly title: string;
  readonly subtitle: string;
  readonly xLabel: (x: number) => string;
  readonly yLabel: (y: number) => string;
  readonly lines: readonly {
    readonly name: string;
    readonly points: readonly { readonly x: number; readonly y: number }[];
  }[];
}

const width = 860;
const left = 250;
const right = 150;
const top = 96;

const style = `
  text { font: 13px ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, Helvetica, Arial, sans-serif; fill: #1f2933; }
  .title { font-size: 17px; font-weight: 600; }
  .soft { fill: #52606d; }
  .paper { fill: #ffffff; }
  .grid { stroke: #d9dee4; stroke-width: 1; }
  .range { stroke: #1f2933; stroke-width: 1; fill: none; }
  .mark { stroke: #52606d; stroke-width: 1; stroke-dasharray: 4 3; }
  .fill0 { fill: #1f6feb; } .fill1 { fill: #9aa5b1; } .fill2 { fill: #0f8a5f; }
  .line0 { stroke: #1f6feb; } .line1 { stroke: #9aa5b1; } .line2 { stroke: #0f8a5f; }
  .line0, .line1, .line2 { fill: none; stroke-width: 2; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; }
    .soft { fill: #9ba7b4; }
    .paper { fill: #0d1117; }
    .grid { stroke: #2d343d; }
    .range { stroke: #e6edf3; }
    .mark { stroke: #9ba7b4; }
    .fill0 { fill: #58a6ff; } .fill1 { fill: #6e7884; } .fill2 { fill: #3fb98a; }
    .line0 { stroke: #58a6ff; } .line1 { stroke: #6e7884; } .line2 { stroke: #3fb98a; }
  }`;

export function barPicture(picture: BarPicture): string {
  const barHeight = 18;
  const gap = 16;
  const ends = picture.groups.flatMap(({ bars }) => bars.map(({ value, range }) => range?.most ?? value));
  const most = Math.max(...ends, 0) || 1;
  const lengthOf = (value: number) => (value / most) * (width - left - right);
  const parts: string[] = [];
  let y = top;
  for (const { label, bars } of picture.groups) {
    const height = bars.length * barHeight;
    parts.push(text(left - 12, y + height / 2 + 4, label, 'text-anchor="end"'));
    for (const bar of bars) {
      const length = Math.max(1, lengthOf(bar.value));
      parts.push(
        `<rect class="fill${bar.series}" x="${left}" y="${y}" width="${round(length)}" height="${barHeight - 3}" rx="2"/>`,
        text(left + Math.max(length, lengthOf(bar.range?.most ?? 0)) + 8, y + 12, bar.text),
      );
      if (bar.range !== undefined) parts.push(whisker(bar.range, y + (barHeight - 3) / 2, lengthOf));
      y += barHeight;
    }
    y += gap;
  }
  if (picture.mark !== undefined) {
    const x = round(left + lengthOf(picture.mark.value));
    parts.unshift(`<line class="mark" x1="${x}" y1="${top - 8}" x2="${x}" y2="${y - gap + 4}"/>`);
    parts.push(text(x, y + 4, picture.mark.text, 'class="soft" text-anchor="middle"'));
    y += 16;
  }
  return page(picture, y + 8, [...legend(picture.series), ...parts]);
}

function whisker(
  { least, most }: { readonly least: number; readonly most: number },
  y: number,
  lengthOf: (value: number) => number,
): string {
  const [from, to] = [round(left + lengthOf(least)), round(left + lengthOf(most))];
  return `<path class="range" d="M${from} ${y - 3}V${y + 3}M${from} ${y}H${to}M${to} ${y - 3}V${y + 3}"/>`;
}

export function linePicture(picture: LinePicture): string {
  const plot = { left: 80, right: width - 40, top, bottom: 380 };
  const points = picture.lines.flatMap((line) => line.points);
  const mostX = Math.max(...points.map(({ x }) => x), 1);
  const mostY = Math.max(...points.map(({ y }) => y), 1) * 1.1;
  const xOf = (x: number) => round(plot.left + (x / mostX) * (plot.right - plot.left));
  const yOf = (y: number) => round(plot.bottom - (y / mostY) * (plot.bottom - plot.top));
  const steps = [0, 0.25, 0.5, 0.75, 1];
  const grid = steps.flatMap((step) => [
    `<line class="grid" x1="${plot.left}" x2="${plot.right}" y1="${yOf(mostY * step)}" y2="${yOf(mostY * step)}"/>`,
    text(plot.left - 8, yOf(mostY * step) + 4, picture.yLabel(mostY * step), 'class="soft" text-anchor="end"'),
    text(xOf(mostX * step), plot.bottom + 20, picture.xLabel(mostX * step), 'class="soft" text-anchor="middle"'),
  ]);
  const lines = picture.lines.map(
    (line, index) =>
      `<polyline class="line${index}" points="${line.points.map(({ x, y }) => `${xOf(x)},${yOf(y)}`).join(' ')}"/>`,
  );
  return page(picture, plot.bottom + 40, [...legend(picture.lines.map(({ name }) => name)), ...grid, ...lines]);
}

function page(
  { title, subtitle }: { readonly title: string; readonly subtitle: string },
  height: number,
  parts: readonly string[],
): string {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escaped(title)}">`,
    `<style>${style}\n</style>`,
    `<rect class="paper" width="${width}" height="${height}" rx="6"/>`,
    text(24, 34, title, 'class="title"'),
    text(24, 56, subtitle, 'class="soft"'),
    ...parts,
    '</svg>\n',
  ].join('\n');
}

function legend(names: readonly string[]): string[] {
  let x = 24;
  return names.flatMap((name, index) => {
    const at = x;
    x += 40 + name.length * 7.5;
    return [`<rect class="fill${index}" x="${at}" y="68" width="12" height="12" rx="2"/>`, text(at + 18, 79, name)];
  });
}

function text(x: number, y: number, content: string, attributes = ''): string {
  return `<text x="${round(x)}" y="${round(y)}" ${attributes}>${escaped(content)}</text>`;
}

function escaped(content: string): string {
  return content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
