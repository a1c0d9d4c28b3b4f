import type { SentCommit } from '../postgres/commit-feed.ts';

/**
 * Neither stands in JSON. A release that knows only messages of one commit finds no line break in one of several, takes it
 * for one that only names a commit, and reads them all from the database.
 */
const afterHead = '\u001f';
const betweenCommits = '\u001e';
const afterOnlyHead = '\n';

/**
 * Commits as messages of at most so many bytes, in order. One that is larger is only named, and the others read it. The
 * text of a commit is long, and is not wrapped in another text.
 */
export function messagesOf(commits: readonly SentCommit[], mostBytes: number): Buffer[] {
  const messages: Buffer[] = [];
  let group: (readonly [head: string, facts: string])[] = [];
  let bytes = 0;
  const finish = () => {
    if (group.length > 0) messages.push(Buffer.from(textOf(group)));
    group = [];
    bytes = 0;
  };
  for (const { facts, ...place } of commits) {
    const head = JSON.stringify(place);
    const size = Buffer.byteLength(head) + Buffer.byteLength(facts) + 2;
    if (bytes + size > mostBytes) finish();
    if (size > mostBytes) messages.push(Buffer.from(head));
    else {
      group.push([head, facts]);
      bytes += size;
    }
  }
  finish();
  return messages;
}

function textOf(group: readonly (readonly [head: string, facts: string])[]): string {
  const between = group.length === 1 ? afterOnlyHead : afterHead;
  return group.map(([head, facts]) => `${head}${between}${facts}`).join(betweenCommits);
}

/** The commits of a message. Undefined if it only names one. */
export function commitsOf({ buffer, byteOffset, byteLength }: Uint8Array): readonly SentCommit[] | undefined {
  const text = Buffer.from(buffer, byteOffset, byteLength).toString();
  const end = text.indexOf(afterOnlyHead);
  if (end !== -1) return [commitOf(text, end)];
  const several = text.split(betweenCommits);
  return several.length === 1 ? undefined : several.map((each) => commitOf(each, each.indexOf(afterHead)));
}

function commitOf(text: string, end: number): SentCommit {
  return { ...(JSON.parse(text.slice(0, end)) as Omit<SentCommit, 'facts'>), facts: text.slice(end + 1) };
}
