import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Publication {
  readonly part: string;
  readonly machine: Readonly<Record<string, unknown>>;
  readonly results: unknown;
  readonly text: string;
  readonly picture?: string;
}

/** The default folder of results, and the page that shows them. */
export const resultsFolder = 'bench/results';
const page = 'docs/performance.md';

/** Writes results as JSON, as a picture and as tables in the page, so that all three come from one run. */
export function publish(folder: string, publication: Publication): void {
  const { part, machine, results, text, picture } = publication;
  mkdirSync(folder, { recursive: true });
  const document = { part, at: new Date().toISOString(), machine, results };
  writeFileSync(join(folder, `${part}.json`), `${JSON.stringify(document, null, 2)}\n`);
  if (picture !== undefined) writeFileSync(join(folder, `${part}.svg`), picture);
  if (folder === resultsFolder) writeFileSync(page, withTable(readFileSync(page, 'utf8'), part, text));
}

/** The page with the text between the marks of a part replaced. A page without marks stays as it is. */
function withTable(markdown: string, part: string, text: string): string {
  const [start, end] = [`<!-- bench:${part} -->`, `<!-- /bench:${part} -->`];
  const from = markdown.indexOf(start);
  const to = markdown.indexOf(end);
  if (from < 0 || to < from) return markdown;
  return `${markdown.slice(0, from)}${start}\n\n\`\`\`text\n${text}\n\`\`\`\n\n${markdown.slice(to)}`;
}
