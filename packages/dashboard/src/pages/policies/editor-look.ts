import { hiddenCharacter } from '@reeve/contract/visible-text';
import { HighlightStyle } from '@codemirror/language';
import { EditorView, highlightSpecialChars } from '@codemirror/view';
import { tags } from '@lezer/highlight';

/** The page's colours. A shadow root inherits them as variables. */
const colours = EditorView.theme({
  '&': { color: 'var(--color-text)', backgroundColor: 'var(--color-surface)', fontSize: '13px', height: '100%' },
  '&.cm-focused': { outline: '2px solid var(--color-accent)', outlineOffset: '-2px' },
  '.cm-scroller': { fontFamily: 'var(--font-mono)', lineHeight: '1.5' },
  '.cm-content': { caretColor: 'var(--color-text)' },
  '.cm-cursor': { borderLeftColor: 'var(--color-text)' },
  '.cm-gutters': {
    color: 'var(--color-muted)',
    backgroundColor: 'var(--color-sunken)',
    borderRight: '1px solid var(--color-border)',
  },
  '.cm-activeLine': { backgroundColor: 'color-mix(in srgb, var(--color-hover) 60%, transparent)' },
  '.cm-selectionBackground, &.cm-focused .cm-selectionBackground': { backgroundColor: 'var(--color-accent-soft)' },
  '.cm-tooltip, .cm-panels': {
    color: 'var(--color-text)',
    backgroundColor: 'var(--color-surface)',
    border: '1px solid var(--color-border)',
  },
  '.cm-deletedChunk': { backgroundColor: 'var(--color-danger-soft)' },
  '.cm-changedLine': { backgroundColor: 'var(--color-ok-soft)' },
});

/** A policy that was changed must not look like another one: what hides or turns the direction is marked. */
export const editorLook = [colours, highlightSpecialChars({ addSpecialChars: hiddenCharacter })];

export const highlightStyle = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: 'var(--color-accent)' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--color-ok)' },
  { tag: [tags.comment, tags.lineComment], color: 'var(--color-muted)' },
  { tag: [tags.bool, tags.number, tags.null, tags.keyword], color: 'var(--color-info)' },
]);
