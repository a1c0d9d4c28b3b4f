import { actionTitle } from '@reeve/contract/action-title';
import { stateWord } from '../../ui/op-words.ts';
import type { LogFilter } from './audit-search.ts';
import type { AuditEntry } from './use-audit-entries.ts';

/** What an entry is about: the tool, command line with its folder, model or path, or else what was changed. */
export function whatOf({ payload }: Pick<AuditEntry, 'payload'>): string {
  const action = payload['action'];
  if (typeof action === 'object' && action !== null) {
    if (textOf(action, 'command') !== '') return actionTitle({ ...action });
    for (const name of ['tool', 'model', 'path', 'url', 'host']) {
      const text = textOf(action, name);
      if (text !== '') return text;
    }
  }
  for (const name of ['resource', 'label', 'name', 'email', 'action']) {
    const text = textOf(payload, name);
    if (text !== '') return text;
  }
  return stateWord(textOf(payload, 'to'));
}

/** Who did it, if not the agent itself: a person, a key or the gateway. */
export function whoBeside({ actor }: Pick<AuditEntry, 'actor'>): string | undefined {
  if (actor.kind === 'agent') return undefined;
  return actor.label === '' ? actor.id : actor.label;
}

/** The name of an exported file: its day and its filter, in characters that every file system takes. */
export function exportName(filter: LogFilter, format: 'jsonl' | 'csv', today: Date): string {
  const parts = Object.entries(filter).flatMap(([name, value]) => {
    const word = String(value)
      .replaceAll(/[^\p{L}\p{N}._-]+/gu, '-')
      .slice(0, 40);
    return word === '' ? [] : [`${name.replace(/_id$|_type$/, '')}-${word}`];
  });
  return [`reeve-audit-${today.toISOString().slice(0, 10)}`, ...parts].join('_').slice(0, 200) + `.${format}`;
}

function textOf(value: object, name: string): string {
  const member: unknown = (value as Readonly<Record<string, unknown>>)[name];
  return typeof member === 'string' ? member : '';
}
