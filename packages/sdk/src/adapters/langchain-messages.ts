import { isDeepStrictEqual } from 'node:util';
import { copyWith } from './copy-with.ts';
import { unfit } from './unmaskable-prompt.ts';

type Members = Readonly<Record<string, unknown>>;

/** What a provider reads of messages of LangChain, as plain members. */
export function spokenIn(messages: unknown): readonly Members[] {
  return (messages as readonly object[]).map((message) => spokenOf(message));
}

/** The messages with what rules have left of them. Those that stay as they are, and all that programs hold, are the same objects. */
export function messagesWith(messages: unknown, spoken: readonly Members[], masked: unknown): unknown {
  const given = messages as readonly object[];
  if (!Array.isArray(masked) || masked.length !== given.length) throw unfit();
  return given.map((message, at) => messageAs(message, spoken[at] ?? {}, masked[at]));
}

function messageAs(message: object, spoken: Members, masked: unknown): object {
  if (masked === spoken) return message;
  if (typeof masked !== 'object' || masked === null) throw unfit();
  // A name that is masked would leave the member that it named as it was.
  if (
    !isDeepStrictEqual(
      Object.keys(masked),
      Object.keys(spoken).filter((name) => spoken[name] !== undefined),
    )
  )
    throw unfit();
  // An artifact is for the program. A message keeps a second copy of what it was made of.
  const given = { ...spoken, ...masked };
  return copyWith(message, { ...given, ...(hasArtifact(message) ? { artifact: undefined } : {}), lc_kwargs: given });
}

/** Neither what the framework notes for itself, nor what only programs read. */
function spokenOf(message: object): Members {
  return Object.fromEntries(Object.entries(message).filter(([name]) => !name.startsWith('lc_') && !unspoken.has(name)));
}

const unspoken: ReadonlySet<string> = new Set(['artifact', 'usage_metadata']);

function hasArtifact(message: object): boolean {
  return 'artifact' in message;
}
