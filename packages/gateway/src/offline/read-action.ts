import type { Action, Member } from '@reeve/core';
import { action, actionTypes } from '@reeve/core';
import type { Document, Node } from 'yaml';
import { isScalar } from 'yaml';
import type { CaseYaml } from './case-yaml.ts';

/** The text members of an action by their names on the wire; numbers are separate. */
const texts: Readonly<Record<string, keyof Action>> = {
  tool: 'tool',
  source: 'source',
  target_url: 'url',
  source_url: 'url',
  model: 'model',
  operation: 'operation',
  path: 'path',
  host: 'host',
  protocol: 'protocol',
  command: 'command',
  working_dir: 'workingDir',
};
const numbers: Readonly<Record<string, keyof Action>> = {
  port: 'port',
  prompt_tokens: 'promptTokens',
  max_output_tokens: 'maxOutputTokens',
};
const known = ['type', ...Object.keys(texts), ...Object.keys(numbers), 'args', 'annotations'];

/** Reads the `action` of a case, and the `arguments` of a tool call beside it. */
export function readAction(
  yaml: CaseYaml,
  document: Document.Parsed,
  given: Member | undefined,
  argumentsOfTool: unknown,
): Action {
  const members = given === undefined ? [] : (yaml.members(document, given.value, '"action"') ?? []);
  const typed = members.find(({ name }) => name === 'type');
  const type = given === undefined ? undefined : yaml.choice(typed?.value ?? given.value, '"type"', actionTypes);
  const found: { -readonly [Name in keyof Action]?: Action[Name] } = {};
  for (const member of members) {
    const { name, value } = member;
    const text = Object.hasOwn(texts, name) ? texts[name] : undefined;
    const number = Object.hasOwn(numbers, name) ? numbers[name] : undefined;
    if (text !== undefined) Object.assign(found, { [text]: textOf(yaml, value, name) });
    else if (number !== undefined) Object.assign(found, { [number]: numberOf(yaml, value, name) });
    else if (name === 'args') {
      found.commandArgs = (yaml.items(document, value, '"args"') ?? []).map((item) => textOf(yaml, item, name));
    } else if (name === 'annotations') found.annotations = JSON.stringify(yaml.jsonOf(document, member));
    else if (name !== 'type') yaml.unknown(member, '"action"', known);
  }
  const json = argumentsOfTool === undefined ? {} : { json: JSON.stringify(argumentsOfTool) };
  return action(type ?? 'tool_call', { ...found, ...json });
}

/** YAML does not read `8` and `yes` as texts; in a name they mean what is written. */
function textOf(yaml: CaseYaml, node: Node | undefined, name: string): string {
  if (isScalar(node) && node.value !== null) return typeof node.value === 'string' ? node.value : (node.source ?? '');
  yaml.complain(node, `"${name}" must be a text`);
  return '';
}

function numberOf(yaml: CaseYaml, node: Node | undefined, name: string): number {
  const value = isScalar(node) ? node.value : undefined;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0) return value;
  yaml.complain(node, `"${name}" must be a whole number that is not negative`);
  return 0;
}
