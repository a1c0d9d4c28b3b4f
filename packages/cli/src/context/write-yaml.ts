import { isObject } from '../is-object.ts';
import { escapeControls } from '../output/clean-text.ts';
import { reservedWord } from './simple-yaml.ts';

const plainWords = /^[A-Za-z][\w./+=@-]*(:[\w./+=@-]+)*( [\w./+=@()-]+)*$/;
const plainKey = /^[A-Za-z_][\w-]*$/;

/** Writes a JSON value as YAML. Ambiguous text is written as a JSON string, which YAML understands. */
export function writeYaml(value: unknown): string {
  return `${lines(value).join('\n')}\n`;
}

function lines(value: unknown): string[] {
  if (Array.isArray(value) && value.length > 0) return value.flatMap(itemLines);
  if (isObject(value) && Object.keys(value).length > 0) {
    return Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .flatMap(([key, member]) => memberLines(key, member));
  }
  return [scalar(value)];
}

function itemLines(item: unknown): string[] {
  const [first = '', ...rest] = lines(item);
  return [`- ${first}`, ...rest.map((line) => `  ${line}`)];
}

function memberLines(key: string, value: unknown): string[] {
  const name = plainKey.test(key) && !reservedWord.test(key) ? key : escapeControls(JSON.stringify(key));
  if (!isBlock(value)) return [`${name}: ${scalar(value)}`];
  return [`${name}:`, ...lines(value).map((line) => `  ${line}`)];
}

function isBlock(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : isObject(value) && Object.keys(value).length > 0;
}

function scalar(value: unknown): string {
  if (typeof value === 'string') {
    return plainWords.test(value) && !reservedWord.test(value) ? value : escapeControls(JSON.stringify(value));
  }
  return JSON.stringify(value) ?? 'null';
}
