import type { ContextMember } from '@reeve/contract/http';
import { contextShapes } from '@reeve/contract/http';
import type { Action, ActionType } from '@reeve/core';
import { action, actionTypes, invalid } from '@reeve/core';

interface Shape {
  readonly names: readonly string[];
  readonly members: Readonly<Record<string, ContextMember>>;
}

const shapes: Readonly<Record<ActionType, Shape>> = contextShapes;
const allNames = new Set(Object.values(shapes).flatMap(({ names }) => names));
const numbers = new Set<ContextMember>(['promptTokens', 'maxOutputTokens', 'port']);

/** The type of an action, in any case. */
export function readActionType(text: string): ActionType {
  const name = text.toLowerCase();
  const type = actionTypes.find((candidate) => candidate === name);
  if (type === undefined) throw invalid('action_type', `must be one of ${actionTypes.join(', ')}`);
  return type;
}

/** An action described in JSON: the context with gRPC's names, bare or under the name of its kind. */
export function readContext(type: ActionType, context: Readonly<Record<string, unknown>>): Action {
  const { given, place } = unwrap(type, context);
  const { members } = shapes[type];
  const found = new Map<ContextMember, unknown>();
  for (const [name, value] of Object.entries(given)) {
    const target = Object.hasOwn(members, snakeCase(name)) ? members[snakeCase(name)] : undefined;
    const field = `${place}.${name}`;
    if (target === undefined) throw invalid(field, `is unknown; a ${type} has ${Object.keys(members).join(', ')}`);
    if (found.has(target)) throw invalid(field, 'is said twice, under two names');
    if (value !== null && value !== undefined) found.set(target, read(target, field, value));
  }
  return action(type, Object.fromEntries(found));
}

function unwrap(
  type: ActionType,
  context: Readonly<Record<string, unknown>>,
): { readonly given: object; readonly place: string } {
  const [name = '', ...others] = Object.keys(context);
  const inner = context[name];
  const wrapper = snakeCase(name);
  if (others.length > 0 || !allNames.has(wrapper)) return { given: context, place: 'context' };
  if (!shapes[type].names.includes(wrapper)) {
    throw invalid('context', `holds a ${wrapper} where action_type says ${type}`);
  }
  if (typeof inner !== 'object' || inner === null || Array.isArray(inner)) {
    throw invalid(`context.${name}`, 'must be an object');
  }
  return { given: inner, place: `context.${name}` };
}

function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function read(target: ContextMember, field: string, value: unknown): unknown {
  if (target === 'json' || target === 'annotations') return readJson(field, value);
  if (target === 'commandArgs') {
    if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value;
    throw invalid(field, 'must be a list of texts');
  }
  if (numbers.has(target)) {
    if (Number.isSafeInteger(value)) return value;
    throw invalid(field, 'must be a whole number');
  }
  if (target === 'namedOnly') {
    if (typeof value === 'boolean') return value;
    throw invalid(field, 'must be true or false');
  }
  if (typeof value === 'string') return value;
  throw invalid(field, 'must be a text');
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Arguments as the text of a JSON document, as the document itself, or in Base64, as gRPC's JSON writes bytes. */
function readJson(field: string, value: unknown): string {
  if (typeof value !== 'string') return JSON.stringify(value);
  if (value.trim() === '' || isJson(value)) return value.trim();
  const decoded = /^[A-Za-z0-9+/_-]+={0,2}$/.test(value) ? textOfBase64(value) : undefined;
  if (decoded !== undefined && isJson(decoded)) return decoded;
  throw invalid(field, 'must be JSON, as text, as an object or in Base64');
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function textOfBase64(text: string): string | undefined {
  try {
    return utf8.decode(Buffer.from(text, 'base64'));
  } catch {
    return undefined;
  }
}
