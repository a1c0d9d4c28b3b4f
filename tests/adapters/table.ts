import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

/** The table of cases, as its head describes it. */
export interface Table {
  readonly tools: Readonly<Record<string, ToolSpec>>;
  readonly policy: string;
  readonly model: ModelSpec;
  readonly cases: readonly Case[];
  readonly adapters: readonly AdapterSpec[];
}

export interface ToolSpec {
  readonly args: Readonly<Record<string, 'string' | 'number'>>;
  readonly returns?: string;
  readonly throws?: string;
  readonly waits?: boolean;
  readonly estimate_usd?: string;
  readonly spends_usd?: string;
  readonly starts?: ToolCallSpec;
}

export interface ToolCallSpec {
  readonly tool: string;
  readonly args: Readonly<Record<string, string | number>>;
}

export interface ModelSpec {
  readonly name: string;
  readonly input_tokens: number;
  readonly cached_input_tokens: number;
  readonly output_tokens: number;
}

export interface Case {
  readonly name: string;
  readonly title: string;
  readonly calls: readonly ToolCallSpec[];
  readonly model?: boolean;
  readonly wait_ms?: number;
  readonly run_id?: string;
  readonly gateway?: 'away' | 'restarted';
  readonly before?: readonly Step[];
  readonly during?: readonly Step[];
  readonly expect: Expected;
}

export interface Step {
  readonly suspend?: string;
  readonly stop_gateway?: true;
  readonly restart_gateway?: true;
  readonly await_running?: readonly string[];
  readonly approve?: string;
  readonly reject?: string;
  readonly pause?: string;
  readonly resume?: string;
  readonly terminate?: string;
  readonly release?: readonly string[];
  readonly await_paused?: string;
  readonly nothing_read?: true;
  readonly reason?: string;
}

export interface Expected {
  readonly ran: Readonly<Record<string, number>>;
  readonly reads?: Readonly<Record<string, string | readonly string[]>>;
  readonly fails?: Readonly<Record<string, string>>;
  readonly reads_lack?: readonly string[];
  readonly stopped?: string;
  readonly reason?: string;
  readonly decisions?: readonly ExpectedDecision[];
  readonly ends?: Readonly<Record<string, ExpectedEnd>>;
  readonly approvals?: Readonly<Record<string, string>>;
  readonly receipt?: Readonly<Record<string, string>>;
  readonly log_lacks?: readonly string[];
}

export interface ExpectedDecision {
  readonly action: string;
  readonly resource: string;
  readonly decision: string;
  readonly rule?: string;
  readonly agent?: 'child';
  readonly parent?: true;
  readonly depth?: number;
  readonly run_id?: string;
}

export interface ExpectedEnd {
  readonly state?: string;
  readonly outcome?: string;
  readonly cost_usd?: string;
}

export interface AdapterSpec {
  readonly name: string;
  readonly language: string;
  readonly title: string;
  readonly packages: readonly string[];
  readonly cannot?: Readonly<Record<string, string>>;
}

export const tableFile = 'tests/adapters/cases.yaml';

export function readTable(): Table {
  return parse(readFileSync(tableFile, 'utf8')) as Table;
}

/** The text with its `${name}` replaced. */
export function filled(text: string, values: Readonly<Record<string, unknown>>): string {
  return text.replaceAll(/\$\{(\w+)\}/g, (_, name: string) => String(values[name]));
}
