import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { yaml } from '@codemirror/lang-yaml';
import { bracketMatching, indentOnInput, indentUnit, syntaxHighlighting } from '@codemirror/language';
import type { Diagnostic } from '@codemirror/lint';
import { lintGutter, setDiagnostics } from '@codemirror/lint';
import { highlightSelectionMatches, searchKeymap } from '@codemirror/search';
import { EditorState } from '@codemirror/state';
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view';
import type { ApiFault } from '../../api/api-error.ts';
import { editorLook, highlightStyle } from './editor-look.ts';

/**
 * Typing over a selection is done by the editor. The browser would give the new text the look of the old one by a style
 * attribute, which the Content-Security-Policy refuses.
 */
const typeOverSelection = EditorView.domEventHandlers({
  beforeinput: (event, view) => {
    const { data, inputType } = event;
    const { state } = view;
    if (inputType !== 'insertText' || data === null || state.readOnly || view.composing) return false;
    if (state.selection.ranges.every(({ empty }) => empty)) return false;
    event.preventDefault();
    view.dispatch(state.replaceSelection(data), { userEvent: 'input.type', scrollIntoView: true });
    return true;
  },
});

export interface EditorOptions {
  readonly label: string;
  readonly text: string;
  readonly isReadOnly: boolean;
  readonly onChange: (text: string) => void;
}

/**
 * A text editor within a shadow root. There its styles are adopted style sheets, which the Content-Security-Policy
 * allows. It would refuse style elements.
 */
export class YamlEditor {
  readonly #view: EditorView;

  constructor(host: HTMLElement, { label, text, isReadOnly, onChange }: EditorOptions) {
    const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
    root.replaceChildren();
    const state = EditorState.create({
      doc: text,
      extensions: [
        lineNumbers(),
        lintGutter(),
        history(),
        drawSelection(),
        indentOnInput(),
        indentUnit.of('  '),
        bracketMatching(),
        highlightActiveLine(),
        highlightSelectionMatches(),
        yaml(),
        syntaxHighlighting(highlightStyle),
        editorLook,
        typeOverSelection,
        EditorState.readOnly.of(isReadOnly),
        EditorView.contentAttributes.of({ 'aria-label': label, spellcheck: 'false' }),
        EditorView.lineWrapping,
        // After Escape, Tab leaves the editor, so that the keyboard is not trapped.
        keymap.of([...defaultKeymap, ...historyKeymap, ...searchKeymap, indentWithTab]),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) onChange(update.state.doc.toString());
        }),
      ],
    });
    this.#view = new EditorView({ state, parent: root, root });
  }

  /** Marks each fault at its position. */
  mark(faults: readonly ApiFault[]): void {
    const { doc } = this.#view.state;
    const found = faults.map(({ line = 1, column = 1, message = '' }): Diagnostic => {
      const at = doc.line(Math.min(Math.max(line, 1), doc.lines));
      const from = Math.min(at.from + Math.max(column - 1, 0), at.to);
      return { from, to: Math.max(from, at.to), severity: 'error', message };
    });
    this.#view.dispatch(setDiagnostics(this.#view.state, found));
  }

  /** Puts the cursor on a fault. */
  goTo({ line = 1, column = 1 }: ApiFault): void {
    const { doc } = this.#view.state;
    const at = doc.line(Math.min(Math.max(line, 1), doc.lines));
    this.#view.dispatch({ selection: { anchor: Math.min(at.from + column - 1, at.to) }, scrollIntoView: true });
    this.#view.focus();
  }

  replace(text: string): void {
    const { doc } = this.#view.state;
    if (doc.toString() !== text) this.#view.dispatch({ changes: { from: 0, to: doc.length, insert: text } });
  }

  destroy(): void {
    this.#view.destroy();
  }
}
