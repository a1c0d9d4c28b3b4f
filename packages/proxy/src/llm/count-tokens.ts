import type { Upstream } from './model-config.ts';

/** The bounds that the upstream's entry in the file sets. */
export type InputBounds = Pick<Upstream, 'imageTokens' | 'unseenInputTokens'>;

type Members = Readonly<Record<string, unknown>>;

export const largestTokens = 2_147_483_647;

/** The most that a provider adds to a prompt to explain tools. */
const toolsPreamble = 1024;
/** Sound has at least this many bytes for each token, also where it is compressed most. */
const audioBytesPerToken = 16;
/** Pages of a document count as text and as pictures, so a byte of it may be worth more than one token. */
const tokensPerFileByte = 4;

/** Tools that run in the agent. A tool of any other type brings input that the request does not show. */
const ownTools = /^(function|custom|local_shell|shell|apply_patch|bash_|text_editor_|computer|memory_)/;

/** Members that refer to a part of the prompt which the upstream has stored. */
const stored = ['previous_response_id', 'conversation', 'prompt', 'container', 'mcp_servers'];

/**
 * The most tokens that the prompt of a request can have. A token is at least one byte of text, and JSON only makes text
 * longer, so the bytes of the body bound everything that is text. What is not text counts by bounds of its own.
 */
export function promptBound(bytes: number, request: Members, bounds: InputBounds): number {
  const { tools, system, messages, input } = request;
  let tokens = bytes;
  if (Array.isArray(tools) && tools.length > 0) tokens += toolsPreamble;
  if (stored.some((key) => request[key] !== undefined && request[key] !== null)) tokens += bounds.unseenInputTokens;
  if (Array.isArray(tools) && tools.some(addsInput)) tokens += bounds.unseenInputTokens;
  for (const blocks of [system, input]) tokens += beyondBytes(blocks, bounds);
  if (Array.isArray(messages))
    for (const message of messages) tokens += beyondBytes(memberOf(message, 'content'), bounds);
  return Math.min(largestTokens, Math.max(1, tokens));
}

function addsInput(tool: unknown): boolean {
  const type = memberOf(tool, 'type');
  return typeof type === 'string' && !ownTools.test(type);
}

/** No provider nests blocks deeper. Deeper ones count by their bytes. */
const deepest = 8;

/** How much the blocks of a message count beyond their bytes. Negative for pictures, which are smaller than their bytes. */
function beyondBytes(blocks: unknown, bounds: InputBounds, depth = 0): number {
  if (!Array.isArray(blocks) || depth > deepest) return 0;
  let sum = 0;
  for (const block of blocks) sum += beyondBytesOf(block, bounds, depth + 1);
  return sum;
}

function beyondBytesOf(block: unknown, bounds: InputBounds, depth: number): number {
  const inline = inlineDataOf(block);
  switch (memberOf(block, 'type')) {
    case 'image':
    case 'image_url':
    case 'input_image':
    case 'computer_screenshot':
      return bounds.imageTokens - (inline ?? 0);
    case 'input_audio':
      return inline === undefined ? bounds.unseenInputTokens : Math.ceil(inline / audioBytesPerToken) - inline;
    case 'document':
    case 'file':
    case 'input_file':
      return inline === undefined ? unseenOf(block, bounds, depth) : (tokensPerFileByte - 1) * inline;
    case 'item_reference':
      return bounds.unseenInputTokens;
    // Messages and results of tools hold blocks of their own.
    default:
      return beyondBytes(memberOf(block, 'content'), bounds, depth) + outputOf(block, bounds, depth);
  }
}

function outputOf(block: unknown, bounds: InputBounds, depth: number): number {
  const output = memberOf(block, 'output');
  return output === undefined ? 0 : beyondBytes(Array.isArray(output) ? output : [output], bounds, depth);
}

/** A document whose text is in the request is counted by its bytes. */
function unseenOf(block: unknown, bounds: InputBounds, depth: number): number {
  const source = memberOf(block, 'source');
  const type = memberOf(source, 'type');
  if (type === 'text') return 0;
  if (type === 'content') return beyondBytes(memberOf(source, 'content'), bounds, depth);
  return bounds.unseenInputTokens;
}

/** The length of the data that a block holds in place of a reference. */
function inlineDataOf(block: unknown): number | undefined {
  const source = memberOf(block, 'source');
  const url = memberOf(block, 'image_url');
  const inSource = memberOf(source, 'type') === 'base64' ? memberOf(source, 'data') : undefined;
  const inUrl = [url, memberOf(url, 'url')].find((text) => typeof text === 'string' && text.startsWith('data:'));
  const file = memberOf(memberOf(block, 'file'), 'file_data') ?? memberOf(block, 'file_data');
  const data = inSource ?? inUrl ?? file ?? memberOf(memberOf(block, 'input_audio'), 'data');
  return typeof data === 'string' ? data.length : undefined;
}

function memberOf(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Members)[key] : undefined;
}
