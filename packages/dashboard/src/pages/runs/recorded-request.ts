import { userOfPayload } from '../../api/user-of-payload.ts';
import type { Entry } from '../ops/history-words.ts';
import type { SimulateBody } from '../policies/simulated-request.ts';
import type { Step } from './run.ts';

type Payload = Entry['payload'];

/** The check as the log has it, to be asked again, and what of it the log does not have. */
interface RecordedRequest {
  readonly body: SimulateBody;
  readonly gaps: readonly string[];
}

/** Members that say how the action was recorded, and are no part of it. */
const aside = new Set(['type', 'inexact', 'args', 'annotations']);

/** Undefined if the entry records no action. */
export function recordedRequest(
  { agent, action_type }: Pick<Step, 'agent' | 'action_type'>,
  payload: Payload,
): RecordedRequest | undefined {
  const { action, run_id: runId, run, delegators } = payload;
  if (!isObject(action)) return undefined;
  const gaps: string[] = [];
  const context: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(action)) if (!aside.has(name)) context[name] = value;
  if (isOmission(action['args']))
    gaps.push('Its arguments were too long to be recorded: rules that look at them see none.');
  // A text among the arguments is a value, and would be read as JSON otherwise.
  else if (action['args'] !== undefined) context[documentOf(action_type)] = JSON.stringify(action['args']);
  if (isObject(action['annotations']) && !isOmission(action['annotations']))
    context['annotations'] = action['annotations'];
  if (JSON.stringify(action).includes('[redacted]'))
    gaps.push('Secrets in it are recorded as “[redacted]”, and are judged as that.');
  if (Array.isArray(delegators) && delegators.length > 0)
    gaps.push('The agent acted for others. Only the rules about itself are asked.');
  const labels = isObject(run) && Array.isArray(run['labels']) ? (run['labels'] as readonly string[]) : undefined;
  if (labels === undefined) gaps.push('No rule asked then which labels the run bore: those that it bears now count.');
  const user = userOfPayload(payload);
  const groups = payload['user_groups'];
  return {
    body: {
      agent,
      action_type,
      context,
      ...(typeof runId === 'string' ? { run_id: runId } : {}),
      ...(labels === undefined ? {} : { run: { labels: [...labels] } }),
      ...(payload['estimated'] === true && typeof payload['cost_micros'] === 'number'
        ? { estimated_cost_micros: payload['cost_micros'] }
        : {}),
      ...(user === undefined ? {} : { user: { ...user, ...(isTexts(groups) ? { groups: [...groups] } : {}) } }),
    },
    gaps,
  };
}

function documentOf(type: string): string {
  return type === 'tool_result' ? 'result_json' : 'args_json';
}

/** Stands for what is too long to be recorded. */
function isOmission(value: unknown): boolean {
  return isObject(value) && 'sha256' in value && ('omitted_bytes' in value || 'omitted_characters' in value);
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
