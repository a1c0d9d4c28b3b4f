import { readFile } from 'node:fs/promises';
import { isExactNumber, numberFault } from '@reeve/contract/exact-numbers';
import type { RouteRequest, Routes } from '@reeve/contract/http';
import { CliError, UsageError } from '../cli-error.ts';
import { agentPath } from '../command-line/agent-path.ts';
import { parseYaml } from '../context/parse-yaml.ts';
import { isObject } from '../is-object.ts';
import type { Shell } from '../shell.ts';
import { idOfPart } from '@reeve/contract/names';

export type SimulatedRequest = NonNullable<RouteRequest<Routes['simulatePolicy']>['body']>;

/** The options that describe a request. */
export interface RequestFlags {
  readonly agent: string | undefined;
  readonly action: string | undefined;
  readonly tool: string | undefined;
  readonly args: string | undefined;
  readonly annotations: string | undefined;
  readonly url: string | undefined;
  readonly model: string | undefined;
  readonly inputTokens: number | undefined;
  readonly outputTokens: number | undefined;
  readonly host: string | undefined;
  readonly port: number | undefined;
  readonly path: string | undefined;
  readonly operation: string | undefined;
  readonly command: string | undefined;
  readonly cost: string | undefined;
  readonly run: string | undefined;
  readonly user: string | undefined;
  readonly result: string | undefined;
}

/** The action that each option implies without --action. */
const actionOf: Readonly<Partial<Record<keyof RequestFlags, string>>> = {
  tool: 'tool_call',
  model: 'llm_call',
  host: 'network_call',
  path: 'file_operation',
  command: 'process_exec',
};

/** Builds the request that the options describe. */
export function requestFromFlags(flags: RequestFlags): SimulatedRequest {
  if (flags.agent === undefined) throw new UsageError('say who asks: --agent ORG/TEAM/AGENT, or --request FILE');
  const guessed = Object.entries(actionOf).find(([name]) => flags[name as keyof RequestFlags] !== undefined)?.[1];
  const type = flags.action ?? guessed;
  if (type === undefined) {
    throw new UsageError('say what is asked for: --action TYPE, --tool, --model, --host, --path or --command');
  }
  return {
    agent: agentOf(flags.agent),
    action_type: type,
    context: contextOf(type.toLowerCase(), flags),
    ...(flags.cost === undefined ? {} : { estimated_cost_micros: microsOfCost(flags.cost) }),
    ...(flags.run === undefined ? {} : { run_id: flags.run }),
    ...(flags.user === undefined ? {} : { user: userOf(flags.user) }),
    ...(flags.result === undefined ? {} : { result: flags.result }),
  };
}

/** An email alone, or JSON with all that a token may say. */
function userOf(text: string): SimulatedRequest['user'] {
  if (!text.trimStart().startsWith('{')) return { email: text };
  return parsedJson('--user', text) as SimulatedRequest['user'];
}

function agentOf(text: string): SimulatedRequest['agent'] {
  const { org, team, agent } = agentPath(text);
  return { org_id: idOfPart(org), team_id: idOfPart(team), agent_id: agent };
}

function contextOf(type: string, flags: RequestFlags): Record<string, unknown> {
  const given = flags.args === undefined ? undefined : parsedJson('--args', flags.args);
  if (flags.annotations !== undefined) parsedJson('--annotations', flags.annotations);
  const isCommand = type === 'process_exec' || type === 'agent_spawn';
  const members = {
    tool_name: flags.tool,
    [type === 'tool_result' ? 'source_url' : 'target_url']: flags.url,
    annotations: flags.annotations,
    model: flags.model,
    prompt_tokens: flags.inputTokens,
    max_output_tokens: flags.outputTokens,
    host: flags.host,
    port: flags.port,
    path: flags.path,
    operation: flags.operation,
    command: flags.command,
    args: isCommand ? given : undefined,
    [type === 'tool_result' ? 'result_json' : 'args_json']:
      // As written, because the gateway judges numbers by their digits.
      isCommand || given === undefined ? undefined : flags.args,
  };
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

const examples = {
  '--args': '{"amount": 20}',
  '--annotations': '{"readOnlyHint": true}',
  '--user': '{"sub": "u-1"}',
} as const;

function parsedJson(option: keyof typeof examples, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new UsageError(`${option} must be JSON, such as '${examples[option]}', not ${text}`);
  }
}

function microsOfCost(text: string): number {
  const micros = /^\d{1,9}(\.\d{1,6})?$/.test(text) ? Math.round(Number(text) * 1_000_000) : Number.NaN;
  if (Number.isSafeInteger(micros)) return micros;
  throw new UsageError(`--cost must be a number of US dollars such as 1.37, not "${text}"`);
}

/** Reads a request from a JSON or YAML file, in the form of POST /api/v1/policies/simulate. */
export async function requestFromFile(shell: Shell, file: string): Promise<SimulatedRequest> {
  let value: unknown;
  try {
    const text = file === '-' ? await inputOf(shell) : await readFile(file, 'utf8');
    value = await parseYaml(text);
    await requireExactNumbers(text);
  } catch (error) {
    throw new CliError(`cannot read ${file}: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
  if (!isObject(value)) throw new CliError(`${file} must hold a request: {agent, action_type, context}`);
  const agent = typeof value['agent'] === 'string' ? { agent: agentOf(value['agent']) } : {};
  return { ...value, ...agent } as unknown as SimulatedRequest;
}

/** What is judged would not be what the file says. */
async function requireExactNumbers(text: string): Promise<void> {
  const { parseDocument, visit } = await import('yaml');
  visit(parseDocument(text), {
    Scalar: (_, { value, source = '' }) => {
      if (typeof value === 'number' && /^-?\d/.test(source) && !isExactNumber(source))
        throw new Error(numberFault(source));
    },
  });
}

async function inputOf({ stdin }: Shell): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stdin) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
