export interface H2specCase {
  /** The section and the title: `http2/6.7: Sends a PING frame`. */
  readonly name: string;
  readonly outcome: 'passed' | 'failed' | 'skipped';
  /** What the tool expected and what it saw; empty unless the test failed. */
  readonly detail: string;
}

const testcase = /<testcase package="([^"]*)" classname="([^"]*)"[^>]*>([\s\S]*?)<\/testcase>/g;
const problem = /<(?:error|failure)[^>]*>([\s\S]*?)<\/(?:error|failure)>/;

/** Reads the JUnit report of h2spec. Throws if it holds no test, since then the tool did not run. */
export function readH2specReport(xml: string): H2specCase[] {
  const cases = [...xml.matchAll(testcase)].map(([, section = '', title = '', body = '']): H2specCase => {
    const failed = problem.exec(body);
    const detail =
      failed?.[1] === undefined
        ? ''
        : unescaped(failed[1])
            .trim()
            .replaceAll(/\s*\n\s*/g, '; ');
    const outcome = failed !== null ? 'failed' : body.includes('<skipped') ? 'skipped' : 'passed';
    return { name: `${section}: ${unescaped(title)}`, outcome, detail };
  });
  if (cases.length === 0) throw new Error('the report of h2spec holds no test');
  return cases;
}

const entities: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' };

function unescaped(text: string): string {
  return text.replaceAll(/&(?:#(\d+)|#x([\da-fA-F]+)|(\w+));/g, (whole, decimal?: string, hex?: string, name = '') => {
    if (decimal !== undefined) return String.fromCodePoint(Number(decimal));
    if (hex !== undefined) return String.fromCodePoint(Number.parseInt(hex, 16));
    return entities[name] ?? whole;
  });
}
