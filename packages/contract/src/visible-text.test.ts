import { expect, test } from 'vitest';
import { visibleText } from './visible-text.ts';

test.each([
  ['a direction that turns round', 'rm \u202etxt.seton', 'rm <U+202E>txt.seton'],
  ['isolates and marks', '\u2066a\u2069\u200f\u061c', '<U+2066>a<U+2069><U+200F><U+061C>'],
  [
    'what has no width',
    'a\u200bb\u200cc\u200dd\u2060e\ufefff\u00adg',
    'a<U+200B>b<U+200C>c<U+200D>d<U+2060>e<U+FEFF>f<U+00AD>g',
  ],
  [
    'letters and signs that look like nothing',
    '\u3164\u115f\uffa0\u034f\u2800',
    '<U+3164><U+115F><U+FFA0><U+034F><U+2800>',
  ],
  ['tags, which smuggle text', 'ok\u{e0072}\u{e006d}', 'ok<U+E0072><U+E006D>'],
  ['selectors without an emoji', 'a\ufe0fb\u{e0100}', 'a<U+FE0F>b<U+E0100>'],
  ['controls and separators', 'a\u0000\u001b[31m\u009b\u2028\u2029', 'a<U+0000><U+001B>[31m<U+009B><U+2028><U+2029>'],
  ['a joiner that joins no emoji', '👍\u200da\u200d👍', '👍<U+200D>a<U+200D>👍'],
  ['blanks of music and Khitan', 'a\u{1d159}b\u{16fe4}', 'a<U+1D159>b<U+16FE4>'],
  ['what has no agreed look', 'a\ue000b\u0378c\uffff', 'a<U+E000>b<U+0378>c<U+FFFF>'],
  ['half of a character', 'a\ud800b', 'a<U+D800>b'],
])('%s is written out', (_what, text, shown) => {
  expect(visibleText(text)).toBe(shown);
  // What is written out hides nothing, so that it stays as it is.
  expect(visibleText(shown)).toBe(shown);
});

test.each(['plain', 'tab\tline\r\n', 'עברית', 'é e\u0301 日本', '👍🏽 ❤️ 1️⃣ 👨‍👩‍👧 🧑🏽‍💻 👁️‍🗨️', 'no\u00a0break'])(
  'what a reader sees stays: %j',
  (text) => {
    expect(visibleText(text)).toBe(text);
    expect(visibleText(`${text}\u202e`)).toBe(`${text}<U+202E>`);
  },
);
