import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Route, RouteOutput, Routes } from '@reeve/contract/http';
import { routes } from '@reeve/contract/http';
import { makeWorld } from '../../fuzz/world.ts';
import { endWithUs } from '../../harness/end-with-us.ts';
import { bootstrapKey } from '../../harness/gateway.ts';
import type { ForeignSuite, SuiteResult } from '../foreign-suite.ts';
import { cacheFolder, pythonWith } from '../tools.ts';

/** Of the report that it writes, what is counted here. */
interface Report {
  readonly operations: { readonly selected: number; readonly tested: number };
  readonly test_cases: { readonly generated: number };
  readonly failures: readonly { readonly title: string; readonly operations: readonly string[] }[];
  readonly errors: readonly { readonly title: string; readonly count: number }[];
}

const tool = 'schemathesis';
const version = '4.32.5';
const seed = 20_260_101;
const examples = 10;
const longestMs = 20 * 60_000;

/** How fast an answer is, a busy machine decides. Other tests look at that. */
const patience = ['--request-timeout', '120', '--max-response-time', '120'];

/** These are wrapped in `checks.py`, which knows what is excepted and why. */
const replaced = ['positive_data_acceptance', 'allow_header_conformance', 'unsupported_method'];

/** What is too large for a body or a head is refused before it is read. */
const refusals = [400, 401, 403, 404, 405, 406, 409, 413, 415, 422, 428, 429, 431];

export const schemathesisSuite: ForeignSuite = {
  name: tool,
  about: `Requests that [schemathesis](https://schemathesis.readthedocs.io) makes from the OpenAPI document, to a gateway
with data, by an admin key: the borders of every schema, ${examples} random ones for each operation, and sequences of
operations. What fits the document must be accepted, and what does not must be refused. No answer may be an error of the
gateway, have a status, a type, a header or a body that the document does not have, or be given without a credential.
\`tests/conformance/schemathesis/checks.py\` says what no schema can say. The streams are left out: they do not end.`,
  prepare: (say) => pythonWith(tool, [`${tool}==${version}`], say),
  async run(python, say) {
    const world = await makeWorld(examples);
    await using gateway = world.gateway;
    const { body } = await gateway.api.get<RouteOutput<Routes['me']>>('/api/v1/auth/me', bootstrapKey);
    say(`${tool}: some minutes; what it says goes to ${log}`);
    const report = await runTool(python, gateway.http, body.key?.id ?? '');
    const unforeseen = linesIn(gateway.output().stderr, /unexpectedly/);
    return judged(report, unforeseen);
  },
};

const log = join(cacheFolder, `${tool}.txt`);

async function runTool(python: string, url: string, ownKeyId: string): Promise<Report> {
  const folder = mkdtempSync(join(tmpdir(), 'reeve-schemathesis-'));
  try {
    const config = join(folder, 'schemathesis.toml');
    writeFileSync(config, configuration);
    const report = join(folder, 'report.json');
    const bounds = ['--max-examples', String(examples), ...patience, '--seed', String(seed)];
    const checks = ['--checks', 'all', '--exclude-checks', replaced.join(',')];
    const output = ['--no-color', '--report', 'json', '--report-json-path', report, '--generation-database', 'none'];
    const streams = Object.values<Route>(routes).filter(({ stream }) => stream !== undefined);
    const left = streams.flatMap(({ path }) => ['--exclude-path', path]);
    const args = ['--config-file', config, 'run', `${url}/openapi.json`, ...bounds, ...checks, ...output, ...left];
    const child = spawn(join(python, '..', tool), [...args, '--continue-on-failure'], {
      cwd: folder,
      env: { ...process.env, SCHEMATHESIS_HOOKS: hooks, REEVE_OWN_KEY_ID: ownKeyId, REEVE_KEY: bootstrapKey },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: longestMs,
    });
    endWithUs(child);
    const written = createWriteStream(log);
    child.stdout.pipe(written, { end: false });
    child.stderr.pipe(written, { end: false });
    await once(child, 'close');
    written.end();
    // 1: something was found. The report says what.
    if (child.exitCode !== 0 && child.exitCode !== 1) throw new Error(`it ended with ${child.exitCode}; see ${log}`);
    return JSON.parse(readFileSync(report, 'utf8')) as Report;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const hooks = resolve('tests/conformance/schemathesis/checks.py');

const configuration = `headers = { Authorization = "Bearer \${REEVE_KEY}" }

[checks.negative_data_rejection]
expected-statuses = [${refusals.join(', ')}]

# A fact of its context has many names, one of which may be given. Walking along the borders of that takes hours.
[[operations]]
include-path = "/api/v1/policies/simulate"
phases.coverage.enabled = false
`;

function linesIn(text: string, wanted: RegExp): string[] {
  return text.split('\n').filter((line) => wanted.test(line));
}

function judged({ operations, test_cases, failures, errors }: Report, unforeseen: readonly string[]): SuiteResult {
  const lines = [
    ...failures.flatMap(({ title, operations: at }) => at.map((operation) => `${operation}: ${title}`)),
    ...errors.map(({ title, count }) => `${title}: ${count}`),
    ...(operations.tested < operations.selected ? [`${operations.selected - operations.tested} were not tried`] : []),
    ...unforeseen,
  ];
  const wrong = new Set(failures.flatMap(({ operations: at }) => at)).size;
  return {
    counts: { operations: operations.tested, requests: test_cases.generated, findings: lines.length },
    passed: operations.tested - wrong,
    failures: lines,
  };
}
