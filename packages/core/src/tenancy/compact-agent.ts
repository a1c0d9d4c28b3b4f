import type { AgentId } from '../kernel/index.ts';
import { RecentMap, SharedTexts, utf8Length } from '../kernel/index.ts';
import type { AgentRecord } from './agent.ts';

/** Few texts take less as they are. */
const fewTexts = 8;

/** So many lists of credentials are kept once, and only short ones: others are of one agent alone. */
const mostLists = 1000;
const fewCredentials = 3;
const noTexts: readonly string[] = [];
const noMetadata: AgentRecord['metadata'] = {};

/** Makes records that take little memory. There may be a million agents, and those of a team have most texts in common. */
export class CompactAgents {
  readonly #texts = new SharedTexts();
  readonly #lists = new RecentMap<readonly string[]>(mostLists);

  /**
   * The same record, with metadata and tool names in one text. They are rarely read, and a tenant may give an agent
   * thousands of them: as texts of their own, short ones would take many times their length.
   */
  of(record: AgentRecord): AgentRecord {
    const { metadata, toolNames } = record;
    const kept = {
      ...record,
      id: this.#idOf(record.id),
      framework: this.#texts.of(record.framework),
      version: this.#texts.of(record.version),
      parent: record.parent && this.#idOf(record.parent),
      registeredWith: this.#listOf(record.registeredWith),
    };
    const described = Object.entries(metadata).flat();
    if (described.length + toolNames.length > fewTexts) {
      return withTexts(kept, described.length, [...described, ...toolNames]);
    }
    if (described.length === 0) kept.metadata = noMetadata;
    if (toolNames.length === 0) kept.toolNames = noTexts;
    return kept;
  }

  #idOf({ orgId, teamId, agentId }: AgentId): AgentId {
    return { orgId: this.#texts.of(orgId), teamId: this.#texts.of(teamId), agentId };
  }

  /** The agents of a tenant are registered with few credentials. */
  #listOf(list: readonly string[]): readonly string[] {
    if (list.length > fewCredentials) return list;
    const key = list.join(' ');
    const known = this.#lists.get(key);
    if (known !== undefined) return known;
    this.#lists.set(key, list);
    return list;
  }
}

/** What the getters keep is the text and where it is cut, and nothing of the record. */
function withTexts(record: AgentRecord, ofMetadata: number, all: readonly string[]): AgentRecord {
  const text = all.join('');
  const lengths = Uint32Array.from(all, ({ length }) => length);
  const { metadata: _metadata, toolNames: _toolNames, ...rest } = record;
  return {
    ...rest,
    get metadata() {
      const parts = split(text, lengths, 0, ofMetadata);
      return Object.fromEntries(Array.from({ length: ofMetadata / 2 }, (_, at) => parts.slice(at * 2, at * 2 + 2)));
    },
    get toolNames() {
      return split(text, lengths, ofMetadata, lengths.length);
    },
  };
}

function split(text: string, lengths: Uint32Array, from: number, until: number): string[] {
  const parts: string[] = [];
  let start = lengths.subarray(0, from).reduce((sum, length) => sum + length, 0);
  for (const length of lengths.subarray(from, until)) parts.push(text.slice(start, (start += length)));
  return parts;
}

/** How much memory the agents of one org take, in every gateway. Agents without an org are those of one org. */
export interface AgentBounds {
  /** Registered, or remembered because of a suspension or an unconfirmed stop. */
  readonly agents: number;
  /** Of their names, metadata and tools. */
  readonly bytes: number;
}

/** How many bytes the names, the metadata and the tools of an agent take, in UTF-8. */
export function agentBytes({ name, framework, version, metadata, toolNames }: AgentRecord): number {
  let bytes = utf8Length(name) + utf8Length(framework) + utf8Length(version);
  for (const [key, value] of Object.entries(metadata)) bytes += utf8Length(key) + utf8Length(value);
  for (const tool of toolNames) bytes += utf8Length(tool);
  return bytes;
}
