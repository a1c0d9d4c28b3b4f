import type { AgentId, AgentKey } from '../../kernel/index.ts';
import { agentKey } from '../../kernel/index.ts';

/** What a codec writes, as data: the schema can be compared with that of another release, and values can be made up by it. */
export type Form =
  | 'text'
  | 'integer'
  | 'time'
  | 'sum'
  | 'flag'
  | 'set'
  | 'agent'
  | 'json'
  | { readonly words: readonly string[] }
  | { readonly nullable: Form }
  | { readonly optional: Form }
  | { readonly usually: '' | 0; readonly form: Form }
  | { readonly list: Form }
  | { readonly dictionary: Form }
  | { readonly members: Readonly<Record<string, Form>> }
  | { readonly written: Form; readonly from: (written: never) => unknown };

/** How one value stands in the text of a commit. */
export interface Codec<Value> {
  readonly form: Form;
  /** The value as JSON holds it. */
  readonly write: (value: Value, to: CommitWriting) => unknown;
  /** The value that was written. Throws at anything else, and quotes nothing of it. */
  readonly read: (written: unknown, from: CommitReading) => Value;
  /** What a row leaves out at its end: `read` makes the same of nothing. Every member of a later release has one. */
  readonly absent?: null | 0 | '';
}

/** A member that a fact may lack. */
export interface OptionalCodec<Value> extends Codec<Value | undefined> {
  readonly isOptional: true;
}

/** How likely it is that facts of a commit repeat each other's texts. */
export interface Repeating {
  /** The commit has more than a fact or two. */
  readonly texts: boolean;
  /** Others read it while much happens to the same operations, so their ids repeat, too. */
  readonly ops: boolean;
}

/** What the values of a commit are written relative to. */
export class CommitWriting {
  /** Texts that values name by their number. */
  readonly texts: string[] = [];
  /** Times are counted from the first one. */
  base: number | undefined;
  readonly #repeating: Repeating;
  #numbers: Map<string, number> | undefined;
  readonly #agents: readonly string[];
  #places: ReadonlyMap<string, number> | undefined;
  /** The agent and the operation that came last. Facts of the same one follow each other. */
  #agent: AgentId | undefined;
  #place: number | undefined;
  #opId: string | undefined;
  #opNumber = 0;

  /** `agents`: the keys of the agents that the commit touches. */
  constructor(agents: readonly string[], repeating: Repeating) {
    this.#agents = agents;
    this.#repeating = repeating;
  }

  /** The place of an agent among those that the commit touches. */
  placeOf(id: AgentId): number | undefined {
    if (id !== this.#agent) {
      this.#agent = id;
      this.#place = this.#find(agentKey(id));
    }
    return this.#place;
  }

  #find(key: string): number | undefined {
    const agents = this.#agents;
    if (agents.length === 1) return agents[0] === key ? 0 : undefined;
    this.#places ??= new Map(agents.map((each, place) => [each, place]));
    return this.#places.get(key);
  }

  /** A text that other facts are likely to repeat: its number, or itself. */
  textOf(text: string): number | string {
    if (text.length < 2 || !this.#repeating.texts) return text;
    this.#numbers ??= new Map();
    const known = this.#numbers.get(text);
    if (known !== undefined) return known;
    const number = this.texts.push(text) - 1;
    this.#numbers.set(text, number);
    return number;
  }

  /** The same for the id of an operation. */
  opIdOf(opId: string): number | string {
    if (!this.#repeating.ops) return opId;
    if (opId !== this.#opId) {
      this.#opId = opId;
      this.#opNumber = this.texts.push(opId) - 1;
    }
    return this.#opNumber;
  }
}

/** Values that a reader knows already, so that memory holds each of them once. */
export interface Interned {
  readonly text: (text: string) => string;
  readonly agent: (key: AgentKey) => AgentId | undefined;
}

/** Every value is a new one. */
export const nothingInterned: Interned = { text: (text) => text, agent: () => undefined };

/** What a reader of a commit must know of it. */
export interface CommitReading {
  readonly interned: Interned;
  readonly texts: readonly unknown[];
  readonly agents: readonly (AgentId | undefined)[];
  readonly base: number;
}

/** A value that is not of the form that the schema names. */
export function misfit(expected: string): Error {
  return new Error(`it has no ${expected} where one must be`);
}
