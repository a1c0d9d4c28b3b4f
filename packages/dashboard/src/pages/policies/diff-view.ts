import { yaml } from '@codemirror/lang-yaml';
import { syntaxHighlighting } from '@codemirror/language';
import { unifiedMergeView } from '@codemirror/merge';
import { EditorState } from '@codemirror/state';
import { EditorView, lineNumbers } from '@codemirror/view';
import { editorLook, highlightStyle } from './editor-look.ts';

/** Shows the difference between two texts. Returns a function that removes the view. */
export function showDiff(host: HTMLElement, before: string, after: string, label: string): () => void {
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
  root.replaceChildren();
  const state = EditorState.create({
    doc: after,
    extensions: [
      lineNumbers(),
      yaml(),
      syntaxHighlighting(highlightStyle),
      editorLook,
      EditorView.lineWrapping,
      EditorState.readOnly.of(true),
      EditorView.editable.of(false),
      EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
      unifiedMergeView({ original: before, mergeControls: false, collapseUnchanged: { margin: 3, minSize: 6 } }),
    ],
  });
  const view = new EditorView({ state, parent: root, root });
  return () => view.destroy();
}
