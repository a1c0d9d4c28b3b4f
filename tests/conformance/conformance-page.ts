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
import { h2specHeader, h2specRows, sumsText } from './results.ts';

const deployTools = new Set(['buildah', 'debootstrap', 'Helm', 'haproxy', 'promtool', 'systemd-analyze']);

/** The text of docs/conformance.md. */
export function conformancePage(results: Results): string {
  const clients = [...new Set(results.interop.map(({ client }) => client))].join(', ');
  return `# Conformance

\`npm run conformance -- --write\` wrote this page. It runs two suites against a test service on each gRPC engine (and one
against [coding agents](#hooks-of-coding-agents)):
[h2spec](https://github.com/summerwind/h2spec), which holds an HTTP/2 server against the RFCs, and the cases of the gRPC
project's interoperability tests, by clients of other implementations, in plain text and over TLS. The last run:
${sumsText(results)}.

${markdownTable(['tool', 'version'], results.versions)}
${notRunLines(results)}
## HTTP/2

${markdownTable(h2specHeader, h2specRows(results))}

The tool is run twice. Its own requests (http) are not gRPC, so an engine refuses them: Reeve's own at their end, with a
text that says what it is; grpc-js as soon as it has read their header, so that some tests do not reach what they are
about. The second time the tool is built to send the same tests as calls of gRPC (grpc), to a method that takes any content
and answers it.

"Unexpected" counts the failures that the table below does not explain, and the passes of tests that it says fail.
Either fails the run. The unexpected ones of the last run:

${unexpectedLines(results)}

These are expected, by the sentence that allows them:

${exceptionSections()}
## gRPC

Each of the ${interopCases.length} cases, which have the names that the gRPC project gives them, is called by
${clients}, in plain text and over TLS. The table says with how many of these it passed, by engine.

${markdownTable(interopHeader(results), interopRows(results))}

${hooksSection(results)}
## Packages and executables

What a release has, installed and started outside the repository as a stranger would. Of the executables only the one
for the machine of the run was started.

${markdownTable(packageHeader, packageRows(results))}

${mcpSection(results)}
${deploySection(results)}
${foreignSuites.map((suite) => foreignSection(suite, results)).join('\n')}`;
}

const hooksTitle = '## Hooks of coding agents';
const mcpTitle = '## MCP';
const deployTitle = '## Deploying';

/** The page with another part about the hooks. */
export function withHooksSection(page: string, results: Results): string {
  return withSection(page, hooksTitle, hooksSection(results));
}

/** The page with another part about MCP. */
export function withMcpSection(page: string, results: Results): string {
  return withSection(page, mcpTitle, mcpSection(results));
}

/** The page with another part about what is in `deploy/`. */
export function withDeploySection(page: string, results: Results): string {
  return withSection(page, deployTitle, deploySection(results));
}

/** The page with another part about a suite of others. */
export function withForeignSection(page: string, suite: ForeignSuite, results: Results): string {
  return withSection(page, foreignTitle(suite), foreignSection(suite, results));
}

function foreignTitle({ name }: ForeignSuite): string {
  return `## The suite \`${name}\``;
}

function foreignSection(suite: ForeignSuite, results: Results): string {
  const found = results.foreign.get(suite.name);
  const version = results.versions.find(([tool]) => tool === suite.name)?.[1] ?? 'not run';
  const rows = Object.entries(found?.counts ?? {}).map(([what, number]) => [what, String(number)]);
  const failures = (found?.failures ?? []).map((line) => `- ${line}\n`).join('');
  return `${foreignTitle(suite)}

${suite.about}

Version ${version}.

${markdownTable(['cases', 'number'], rows)}
${failures === '' ? '' : `\n${failures}`}`;
}

/** A section ends where the next begins. A new one is the last. */
function withSection(page: string, title: string, section: string): string {
  const at = page.indexOf(`${title}\n`);
  if (at === -1) return `${page.trimEnd()}\n\n${section}`;
  const next = page.indexOf('\n## ', at);
  return `${page.slice(0, at)}${section}${next === -1 ? '' : page.slice(next)}`;
}

function deploySection(results: Results): string {
  const tools = results.versions
    .filter(([tool]) => deployTools.has(tool))
    .map(([tool, version]) => `${tool} ${version}`);
  return `${deployTitle}

What is in [\`deploy/\`](../deploy) was tried on Debian, as root, without a container engine: buildah built the Dockerfile on
bases that debootstrap made, and its root file system was started in namespaces as an engine does it, read-only and as the
image's user. By ${tools.join(', ') || 'no tool'}.

${markdownTable(deployHeader, deployRows(results))}
`;
}

function hooksSection(results: Results): string {
  const programs = codingAgents.map(({ package: name }) => {
    const version = results.versions.find(([tool]) => tool === name)?.[1] ?? 'not run';
    return `\`${name}\` ${version}`;
  });
  return `${hooksTitle}

The real programs, with the hooks that \`reeve hook install\` writes, driven by a scripted model on loopback:
${programs.join(', ')}.

${markdownTable(hookHeader, hookRows(results))}
`;
}

function mcpSection(results: Results): string {
  const version = results.versions.find(([tool]) => tool === mcpTool)?.[1] ?? 'not run';
  return `${mcpTitle}

The suite of the MCP project, \`${mcpTool}\` ${version}, calls reference servers on the official SDK, one for each
family of the protocol, with all scenarios of its revision: by itself, and through \`reeve mcp serve\` in front of the same
server, over Streamable HTTP and on stdio. Checks that fail and checks that warn are counted and named. Through the proxy
they must be as at the server. A door in front of the proxy adds the token of an agent, which the suite cannot send.

${markdownTable(mcpHeader, mcpRows(results))}
`;
}

function notRunLines({ notRun, broken }: Results): string {
  const lines = [...notRun.map((what) => `- Not run: ${what}`), ...broken.map((what) => `- Failed: ${what}`)];
  return lines.length === 0 ? '' : `\n${lines.join('\n')}\n`;
}

function unexpectedLines({ h2spec }: Results): string {
  const lines = h2spec.flatMap(({ engine, requests, verdicts }) =>
    verdicts.filter(({ ok }) => !ok).map(({ name, note }) => `- ${engine}, ${requests}: ${name} (${note})`),
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
  if ('defect' in why) return `No rule allows this: ${why.defect}`;
  return `> ${why.sentence}\n>\n> — ${why.rfc}\n\n${why.here}`;
}

function testLine({ test, engines, requests, outcome, sometimesPasses }: Exception): string {
  const often = sometimesPasses === true ? ', or passes, by which frame comes first' : '';
  return `- ${test} (${engines.join(' and ')}, ${requests.join(' and ')}: ${outcome}${often})`;
}

function markdownTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(header), line(header.map(() => '---')), ...rows.map(line)].join('\n');
}
