import type { CanonicalJson, Json } from '../audit/index.ts';
import { canonicalJson, canonicalText, mayNeedRedaction, redact, redactArguments, redactText } from '../audit/index.ts';
import type { Sha256 } from '../kernel/index.ts';
import { fitsIn, mostBytesOfArguments, utf8Length } from '../kernel/index.ts';
import type { CheckRequest } from './check-request.ts';
import { parseJson, withoutMark } from './parse-json.ts';

/** An action as the log keeps it, with secrets replaced. Members stand in sorted order, which makes the text canonical. */
export function describeAction(request: CheckRequest, sha256: Sha256): CanonicalJson {
  const { action } = request;
  let text = '{';
  const { inexact } = request;
  if (action.annotations !== '') {
    text += `"annotations":${describeJson(action.annotations, () => request.annotations, inexact, sha256)},`;
  }
  if (action.json !== '') text += `"args":${describeArgs(request, sha256)},`;
  if (action.command !== '') text += member('command', action.command);
  if (action.commandArgs.length > 0)
    text += `"command_args":${canonicalJson(redactArguments(action.commandArgs, action.command))},`;
  if (action.host !== '') text += member('host', action.host);
  if (inexact.size > 0) text += '"inexact":true,';
  if (action.maxOutputTokens > 0) text += `"max_output_tokens":${action.maxOutputTokens},`;
  if (action.model !== '') text += member('model', action.model);
  if (action.namedOnly) text += '"named_only":true,';
  if (action.operation !== '') text += member('operation', action.operation);
  if (action.path !== '') text += member('path', action.path);
  if (action.port > 0) text += `"port":${action.port},`;
  if (action.promptTokens > 0) text += `"prompt_tokens":${action.promptTokens},`;
  if (action.protocol !== '') text += member('protocol', action.protocol);
  if (action.source !== '') text += member('source', action.source);
  if (action.tool !== '') text += member('tool', action.tool);
  text += `"type":"${action.type}"`;
  if (action.url !== '') text += `,"url":${canonicalJson(redactText(action.url))}`;
  if (action.workingDir !== '') text += `,"working_dir":${canonicalJson(redactText(action.workingDir))}`;
  return `${text}}` as CanonicalJson;
}

/** The arguments alone. */
export function describeArgs(request: CheckRequest, sha256: Sha256): CanonicalJson {
  return describeJson(request.action.json, () => request.args, request.inexact, sha256);
}

function member(name: string, value: string): string {
  return `"${name}":${canonicalText(redactText(value))},`;
}

/**
 * A document with secrets replaced. If it takes too much room: the length and digest of what was sent. Numbers that a
 * double does not hold are texts, so that people see the digits that were sent.
 */
function describeJson(
  json: string,
  read: () => Json | undefined,
  inexact: ReadonlySet<string>,
  sha256: Sha256,
): CanonicalJson {
  // Long arguments are not even parsed here.
  if (fitsIn(json, mostBytesOfArguments)) {
    const value = (inexact.size === 0 ? read() : parseJson(withoutMark(json), inexact, (written) => written)) ?? null;
    const kept = canonicalJson(mayNeedRedaction(json) ? redact(value) : value);
    if (fitsIn(kept, mostBytesOfArguments)) return kept;
  }
  return canonicalJson({ omitted_bytes: utf8Length(json), sha256: sha256(json) });
}
