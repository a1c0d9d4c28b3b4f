import type { Exception } from './h2spec-exceptions.ts';
import { exceptions } from './h2spec-exceptions.ts';
import type { ForeignSuite } from './foreign-suite.ts';
import { foreignSuites } from './foreign-suites.ts';
import { codingAgents } from './hooks/coding-agents.ts';
import { interopCases } from './interop-cases.ts';
import { mcpTool } from './mcp/mcp-suite.ts';
import type { Results } from './results.ts';
import {
  deployHeader,
  deployRows,
  hookHeader,
  hookRows,
  packageHeader,
  packageRows,
  interopHeader,
  interopRows,
  mcpHeader,
  mcpRows,
} from './results.ts';
import { h2specHeader, h2specRows } from './results.ts';

/** A part of docs/conformance.md: what one suite found. */
interface Section {
  readonly title: string;
  hasRun(results: Results): boolean;
  text(results: Results): string;
}

const sections: readonly Section[] = [
  { title: 'HTTP/2', hasRun: ({ h2spec }) => h2spec.length > 0, text: h2specText },
  { title: 'gRPC', hasRun: ({ interop }) => interop.length > 0, text: interopText },
  { title: 'Hooks of coding agents', hasRun: ({ hooks }) => hooks.length > 0, text: hooksText },
  { title: 'Packages and executables', hasRun: ({ packages }) => packages.length > 0, text: packagesText },
  { title: 'MCP', hasRun: ({ mcp }) => mcp.length > 0, text: mcpText },
  { title: 'Deploying', hasRun: ({ deploy }) => deploy.length > 0, text: deployText },
  ...foreignSuites.map((suite) => ({
    title: `The suite \`${suite.name}\``,
    hasRun: ({ foreign }: Results) => foreign.has(suite.name),
    text: (results: Results) => foreignText(suite, results),
  })),
];

const head = `# Conformance

\`npm run conformance -- --write\` wrote this page. Each part is what the last run of its suite found, and
\`--only SUITE --write\` renews one of them. The suites and clients are those of others; \`--help\` says what each needs.
`;

/** The page with other parts, for those of the suites that have run. A part ends where the next begins; a new one is the last. */
export function renewedPage(page: string, results: Results): string {
  const rest = page.indexOf('\n## ');
  let text = rest === -1 ? head : `${head}${page.slice(rest)}`;
  for (const section of sections.filter(({ hasRun }) => hasRun(results))) {
    const title = `## ${section.title}\n`;
    const at = text.indexOf(`\n${title}`);
    const next = at === -1 ? -1 : text.indexOf('\n## ', at + 1);
    const written = `\n${title}\n${section.text(results).trimEnd()}\n`;
    text = `${at === -1 ? text : text.slice(0, at)}${written}${next === -1 ? '' : text.slice(next)}`;
  }
  return text;
}

/** The tools of a suite, as it noted them. */
function toolsText({ versions }: Results, isOne: (tool: string) => boolean): string {
  return versions
    .filter(([tool]) => isOne(tool))
    .map(([tool, version]) => `${tool} ${version}`)
    .join(', ');
}

function h2specText(results: Results): string {
  return `[h2spec](https://github.com/summerwind/h2spec) holds an HTTP/2 server against the RFCs: here a test service on Reeve's
gRPC engine. By ${toolsText(results, (tool) => tool.startsWith('h2spec'))}.

${markdownTable(h2specHeader, h2specRows(results))}

The tool is run twice. Its own requests (http) are not gRPC, so the engine refuses them at their end, with a text
that says what it is. The second time the tool is built to send the same tests as calls of gRPC (grpc), to a method that takes any content
and answers it.

"Unexpected" counts the failures that the table below does not explain, and the passes of tests that it says fail.
Either fails the run. The unexpected ones of the last run:

${unexpectedLines(results)}

These are expected, by the sentence that allows them:

${exceptionSections()}`;
}

function interopText(results: Results): string {
  const clients = new Set(results.interop.map(({ client }) => client));
  return `Each of the ${interopCases.length} cases of the gRPC project's interoperability tests, which have the names that it gives
them, is called by clients of other implementations (${toolsText(results, (tool) => clients.has(tool))}), in plain text and
over TLS. The table says with how many of these it passed, by what served.

${markdownTable(interopHeader(results), interopRows(results))}`;
}

function hooksText(results: Results): string {
  const programs = codingAgents.map(({ package: name }) => {
    const version = results.versions.find(([tool]) => tool === name)?.[1] ?? 'not run';
    return `\`${name}\` ${version}`;
  });
  return `The real programs, with the hooks that \`reeve hook install\` writes, driven by a scripted model on loopback:
${programs.join(', ')}.

${markdownTable(hookHeader, hookRows(results))}`;
}

function packagesText(results: Results): string {
  return `What a release has, installed and started outside the repository as a stranger would. Of the executables only the one
for the machine of the run was started.

${markdownTable(packageHeader, packageRows(results))}`;
}

function mcpText(results: Results): string {
  return `The suite of the MCP project (${toolsText(results, (tool) => tool === mcpTool)}) calls reference servers on the official SDK,
one for each family of the protocol, with all scenarios of its revision: by itself, and through \`reeve mcp serve\` in front
of the same server, over Streamable HTTP and on stdio. Checks that fail and checks that warn are counted and named. Through
the proxy they must be as at the server. A door in front of the proxy adds a token, which the suite cannot send: an access token
of OAuth where the server is reached over HTTP, and the token of an agent where it is on stdio.

${markdownTable(mcpHeader, mcpRows(results))}`;
}

const deployTools = new Set(['buildah', 'debootstrap', 'Helm', 'haproxy', 'promtool', 'systemd-analyze']);

function deployText(results: Results): string {
  return `What is in [\`deploy/\`](../deploy) was tried on Debian, as root, without a container engine: buildah built the Dockerfile on
bases that debootstrap made, and its root file system was started in namespaces as an engine does it, read-only and as the
image's user. By ${toolsText(results, (tool) => deployTools.has(tool)) || 'no tool'}.

${markdownTable(deployHeader, deployRows(results))}`;
}

function foreignText(suite: ForeignSuite, results: Results): string {
  const found = results.foreign.get(suite.name);
  const version = results.versions.find(([tool]) => tool === suite.name)?.[1] ?? 'unknown';
  const rows = Object.entries(found?.counts ?? {}).map(([what, number]) => [what, String(number)]);
  const failures = (found?.failures ?? []).map((line) => `- ${line}\n`).join('');
  return `${suite.about}

Version ${version}.

${markdownTable(['cases', 'number'], rows)}
${failures === '' ? '' : `\n${failures}`}`;
}

function unexpectedLines({ h2spec }: Results): string {
  const lines = h2spec.flatMap(({ requests, verdicts }) =>
    verdicts.filter(({ ok }) => !ok).map(({ name, note }) => `- ${requests}: ${name} (${note})`),
  );
  return lines.length === 0 ? 'None.' : lines.join('\n');
}

/** The exceptions, those with one reason together. */
function exceptionSections(): string {
  const reasons = [...new Set(exceptions.map(({ why }) => why))];
  return reasons
    .map((why) => {
      const tests = exceptions.filter((entry) => entry.why === why);
      return `${reasonText(why)}\n\n${tests.map(testLine).join('\n')}\n`;
    })
    .join('\n');
}

function reasonText(why: Exception['why']): string {
  return `> ${why.sentence}\n>\n> — ${why.rfc}\n\n${why.here}`;
}

function testLine({ test, requests, outcome, sometimesPasses }: Exception): string {
  const often = sometimesPasses === true ? ', or passes, by which frame comes first' : '';
  return `- ${test} (${requests.join(' and ')}: ${outcome}${often})`;
}

function markdownTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(header), line(header.map(() => '---')), ...rows.map(line)].join('\n');
}
