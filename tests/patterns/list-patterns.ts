import { globSync, readFileSync } from 'node:fs';
import { parseSync, Visitor } from 'oxc-parser';

/** A regular expression in the source. */
export interface Pattern {
  readonly file: string;
  readonly line: number;
  readonly source: string;
  readonly flags: string;
}

/** Every regular expression literal of the packages. */
export function literalPatterns(folders: readonly string[]): readonly Pattern[] {
  const files = folders.flatMap((folder) => globSync(`${folder}/**/*.{ts,tsx}`));
  return files.filter((file) => !/\.test\.tsx?$|\/gen\//.test(file)).flatMap(patternsOf);
}

function patternsOf(file: string): readonly Pattern[] {
  const text = readFileSync(file, 'utf8');
  const found: Pattern[] = [];
  new Visitor({
    Literal(node) {
      if (!('regex' in node) || node.regex === null) return;
      const line = text.slice(0, node.start).split('\n').length;
      found.push({ file, line, source: node.regex.pattern, flags: node.regex.flags });
    },
  }).visit(parseSync(file, text).program);
  return found;
}

/** Every pattern that Python's `re` compiles, as far as both languages write it alike. */
export function pythonPatterns(folder: string): readonly Pattern[] {
  return globSync(`${folder}/**/*.py`).flatMap((file) => {
    const text = readFileSync(file, 'utf8');
    return [...text.matchAll(/\bre\.\w+\(\s*r"([^"]*)"/g)].map(([, source = ''], at) => ({
      file,
      line: at,
      source: source.replaceAll('\\Z', '$').replaceAll('(?P<', '(?<'),
      flags: text.includes('re.DOTALL') ? 's' : '',
    }));
  });
}
