import { parseArgs } from 'node:util';
import { foreignSuites } from './foreign-suites.ts';

const ownSuites = ['h2spec', 'interop', 'mcp', 'hooks', 'adapters', 'packages', 'deploy'] as const;

const suites: readonly string[] = [...ownSuites, ...foreignSuites.map(({ name }) => name)];

export interface Options {
  /** Of `ownSuites` and `foreignSuites`. */
  readonly suites: ReadonlySet<string>;
  /** Whether the results become docs/conformance.md and docs/adapters-results.json. */
  readonly write: boolean;
}

/** The options of the command line. Undefined if help is requested. Throws if one is wrong. */
export function readOptions(args: readonly string[]): Options | undefined {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: 'string' },
      write: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) return undefined;
  const { only, write } = values;
  const chosen = suites.filter((name) => only === undefined || only === name);
  if (chosen.length === 0) throw new Error(`--only takes ${suites.join(' or ')}, not "${only}"`);
  return { suites: new Set(chosen), write };
}

export const helpText = `Holds the gRPC engine against HTTP/2 (h2spec) and against gRPC clients in other languages, the MCP proxy against the
suite of the MCP project, the hooks against real coding agents (Claude Code and Codex) that a scripted model drives, and
the adapters for frameworks against the table of cases (tests/adapters/cases.yaml), and users and workloads against issuers
of others (oidc-provider, SPIRE). Installs the packages and starts the
executables of a release as a stranger would, on every Node that they are for. Builds and starts what is in deploy/: the
image, the chart, the load balancer, the alerts, the unit. Restores PostgreSQL to a moment, as docs/operations/backup.md
says it.

  npm run conformance                          all tests
  npm run conformance -- --only h2spec         one suite: ${suites.join(', ')}
  npm run conformance -- --write               all tests, and the results into docs/conformance.md
  npm run conformance -- --only mcp --write    one suite, and its part of that page
  npm run conformance -- --only adapters --write    the adapters, and the matrix in docs/reference/adapters.md

Needs Go for h2spec, for the client of grpc-go and, with a C compiler, for SPIRE, Python 3 with venv and pip for grpcio and for the adapters in Python
(more than a gigabyte), and Rust for tonic. The coding
agents come from npm, several hundred megabytes; REEVE_CONFORMANCE_CLAUDE and REEVE_CONFORMANCE_CODEX name programs that
are installed already. The tools are built once, into node_modules/.cache/reeve-conformance; remove that folder to get their latest versions. What is
missing is named and counted as not run. The suite deploy needs root on Debian, and installs buildah, debootstrap and
haproxy there. Servers listen on loopback alone.

Exit code: 0 if all that ran has passed, 1 if something failed or nothing ran, 2 for wrong options.
`;
