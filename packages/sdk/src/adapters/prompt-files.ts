/*
 * Files within a prompt that are texts: bytes, base64, and URLs that hold what they stand for. A provider reads them, so they
 * are judged as what they say.
 */

import { unfit, UnmaskablePrompt } from './unmaskable-prompt.ts';

/** A text that a value of a prompt stands for. */
export interface FileText {
  readonly text: string;
  /** Whether all that rules find in the value is found in the text as well. */
  readonly hasAll: boolean;
  /** Another text in the same form. */
  readonly written: (text: string) => string;
}

/** The file that a text of a prompt holds, if that is a text. Undefined also for a file that nobody can read as one. */
export function fileTextIn(said: string, mediaType = ''): FileText | undefined {
  const url = dataUrlIn(said);
  if (url === undefined) return base64Text(said, ofText.test(mediaType) ? 1 : shortestBase64);
  const { head, isBase64, data } = url;
  if (isBase64) {
    const file = base64Text(percentDecoded(data) ?? data, 1);
    return file && { ...file, written: (text) => `${head},${file.written(text)}` };
  }
  const text = percentDecoded(data);
  return text === undefined
    ? undefined
    : { text, hasAll: true, written: (other) => `${head},${encodeURIComponent(other)}` };
}

interface DataUrl {
  readonly head: string;
  readonly mediaType: string;
  readonly isBase64: boolean;
  readonly data: string;
}

/** A prompt is as long as a person or a page makes it, so nothing here looks twice at the same character. */
function dataUrlIn(said: string): DataUrl | undefined {
  const comma = said.indexOf(',');
  if (comma < 0 || !/^data:/i.test(said)) return undefined;
  const head = said.slice(0, comma);
  const [mediaType = ''] = head.slice('data:'.length).split(';', 1);
  return { head, mediaType, isBase64: /;base64$/i.test(head), data: said.slice(comma + 1) };
}

/** Whether a text of a prompt is a file of text that nobody can read, such as one in another encoding. */
function isUnreadable(said: string, mediaType: string): boolean {
  const type = dataUrlIn(said)?.mediaType ?? (isInBase64(said) ? mediaType : '');
  return ofText.test(type) && fileTextIn(said, mediaType) === undefined;
}

function percentDecoded(data: string): string | undefined {
  try {
    return decodeURIComponent(data);
  } catch {
    return undefined;
  }
}

/** A file that is to be read as text, whoever looks into it. */
const ofText = /^text(?:\/|$)|[/+](?:json|xml|yaml|csv|javascript|sql)\b/i;

/** Shorter ones are words. */
const shortestBase64 = 8;
const base64 = /^[\w+/\r\n-]+={0,2}$/;

function isInBase64(said: string): boolean {
  return base64.test(said.trimEnd());
}

function base64Text(said: string, shortest: number): FileText | undefined {
  if (said.length < shortest || !isInBase64(said)) return undefined;
  const text = textOf(Buffer.from(said, 'base64'));
  const encoding = /[_-]/.test(said) ? 'base64url' : 'base64';
  return text === undefined
    ? undefined
    : { text, hasAll: false, written: (other) => Buffer.from(other).toString(encoding) };
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** What the bytes say, if they are a text. No text has such characters in it, but nearly all other files have. */
function textOf(bytes: Uint8Array): string | undefined {
  try {
    const text = decoder.decode(bytes);
    return unreadable.test(text) ? undefined : text;
  } catch {
    return undefined;
  }
}

// oxlint-disable-next-line no-control-regex
const unreadable = /[\u0000-\u0008\u000E-\u001A\u001C-\u001F\u007F]/;

type Members = Readonly<Record<string, unknown>>;

/** Where a file is that a text holds. */
interface PlacedFile extends FileText {
  readonly path: readonly (string | number)[];
  readonly said: string;
}

/** What a prompt says as JSON, and the files in it, which are judged beside it. */
export class ReadPrompt {
  readonly #says: Members;
  readonly #files: PlacedFile[] = [];
  readonly json: Members;

  constructor(says: Members) {
    this.#says = says;
    this.json = this.#read(says, [], '') as Members;
  }

  get files(): readonly string[] {
    return this.#files.map(({ text }) => text);
  }

  /** The prompt with what rules have left of it, in the types that it had. What was not masked is the same object. */
  put(json: Members, files: readonly unknown[]): Members {
    if (files.length !== this.#files.length) throw unfit();
    const read = this.#files.reduce<unknown>((left, placed, at) => {
      const file = files[at];
      if (file === placed.text) return left;
      if (typeof file !== 'string') throw unfit();
      return replacedAt(left, placed.path, placed, placed.written(file));
    }, json);
    return putBack(this.#says, read) as Members;
  }

  #read(value: unknown, path: PlacedFile['path'], mediaType: string): unknown {
    if (value instanceof Uint8Array) return readBytes(value, mediaType);
    if (value instanceof URL) return this.#read(value.href, path, mediaType);
    if (typeof value === 'string') {
      const type = path.at(-1) === 'data' ? mediaType : '';
      const file = fileTextIn(value, type);
      if (file !== undefined) this.#files.push({ ...file, path, said: value });
      else if (isUnreadable(value, type)) throw new UnmaskablePrompt(noText);
      return value;
    }
    if (Array.isArray(value)) return value.map((each, at) => this.#read(each, [...path, at], mediaType));
    if (!isPlain(value)) return value;
    const type = [value['mediaType'], value['media_type'], value['mimeType'], value['mime_type']].find(isText);
    const read = (name: string, each: unknown) => [name, this.#read(each, [...path, name], type ?? mediaType)] as const;
    return Object.fromEntries(Object.entries(value).map(([name, each]) => read(name, each)));
  }
}

const noText = 'it has a file that cannot be read as text';

/** Bytes as the text that they are. Pictures and the like, which nobody looks into, as nothing. */
function readBytes(bytes: Uint8Array, mediaType: string): string | null {
  const text = textOf(bytes);
  if (text === undefined && (mediaType === '' || ofText.test(mediaType))) throw new UnmaskablePrompt(noText);
  return text ?? null;
}

function replacedAt(value: unknown, [name, ...path]: PlacedFile['path'], file: PlacedFile, other: string): unknown {
  if (name === undefined) {
    // What is masked in its own form, too, would be neither the one nor the other.
    if (value !== file.said && !(file.hasAll && typeof value === 'string')) throw unfit();
    return other;
  }
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) throw unfit();
  const member = replacedAt((value as Members)[name], path, file, other);
  return Array.isArray(value) ? value.with(Number(name), member) : { ...value, [name]: member };
}

function putBack(given: unknown, masked: unknown): unknown {
  if (given instanceof Uint8Array) {
    const text = textOf(given) ?? null;
    if (masked === text) return given;
    if (text === null || typeof masked !== 'string') throw unfit();
    return given instanceof Buffer ? Buffer.from(masked) : new TextEncoder().encode(masked);
  }
  if (given instanceof URL) {
    if (masked === given.href) return given;
    if (typeof masked !== 'string' || !URL.canParse(masked)) throw unfit();
    return new URL(masked);
  }
  if (Array.isArray(given) && Array.isArray(masked)) {
    const items = masked.map((each, at) => putBack(given[at], each));
    return items.length === given.length && items.every((each, at) => each === given[at]) ? given : items;
  }
  if (!isPlain(given) || !isPlain(masked)) return masked;
  const names = Object.keys(given).filter((name) => given[name] !== undefined);
  const members = Object.entries(masked).map(([name, each]) => [name, putBack(given[name], each)] as const);
  const isSame = members.length === names.length && members.every(([name, each]) => each === given[name]);
  return isSame ? given : Object.fromEntries(members);
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

/** A class may have a form of its own in JSON. */
function isPlain(value: unknown): value is Members {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const above: unknown = Object.getPrototypeOf(value);
  return above === null || Object.getPrototypeOf(above) === null;
}
