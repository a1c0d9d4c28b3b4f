import type { CanonicalJson } from '../audit/canonical-json.ts';
import { canonicalJson } from '../audit/canonical-json.ts';
import { mayNeedRedaction, redact, redactArguments, redactText } from '../audit/redact.ts';
import { mostBytesOfArguments } from '../kernel/bounds.ts';
import type { Sha256 } from '../kernel/ports.ts';
import { fitsIn, utf8Length } from '../kernel/text-size.ts';
import type { CheckRequest } from './check-request.ts';

/** An action as the log keeps it, with secrets replaced. Members stand in sorted order, which makes the text canonical. */
export function describeAction(request: CheckRequest, sha256: Sha256): CanonicalJson {
  const { action } = request;
  let text = '{';
  if (action.json !== '') text += `"args":${describeArguments(request, sha256)},`;
  if (action.command !== '') text += member('command', action.command);
  if (action.commandArgs.length > 0)
    text += `"command_args":${canonicalJson(redactArguments(action.commandArgs, action.command))},`;
  if (action.host !== '') text += member('host', action.host);
  if (action.maxOutputTokens > 0) text += `"max_output_tokens":${action.maxOutputTokens},`;
  if (action.model !== '') text += member('model', action.model);
  if (action.operation !== '') text += member('operation', action.operation);
  if (action.path !== '') text += member('path', action.path);
  if (action.port > 0) text += `"port":${action.port},`;
  if (action.promptTokens > 0) text += `"prompt_tokens":${action.promptTokens},`;
  if (action.protocol !== '') text += member('protocol', action.protocol);
  if (action.source !== '') text += member('source', action.source);
  if (action.tool !== '') text += member('tool', action.tool);
  text += `"type":"${action.type}"`;
  if (action.url !== '') text += `,"url":${canonicalJson(redactText(action.url))}`;
  return `${text}}` as CanonicalJson;
}

function member(name: string, value: string): string {
  return `"${name}":${canonicalJson(redactText(value))},`;
}

/** What was sent, with secrets replaced; of what takes too much room, its length and digest as it was sent. */
function describeArguments(request: CheckRequest, sha256: Sha256): CanonicalJson {
  const { json } = request.action;
  // Long ones are not even parsed for it.
  if (fitsIn(json, mostBytesOfArguments)) {
    const { args = null } = request;
    const kept = canonicalJson(mayNeedRedaction(json) ? redact(args) : args);
    if (fitsIn(kept, mostBytesOfArguments)) return kept;
  }
  return canonicalJson({ omitted_bytes: utf8Length(json), sha256: sha256(json) });
}
