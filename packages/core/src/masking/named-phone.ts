/** What people write before a number at which somebody is called, and words that may stand between. */
const names = setOf('tel ph mob mobile cell cellular fax sms whatsapp telefon call calls called calling dial dialed');
const between = setOf('number num nr no is was at on me us him her them');
const anyPhone = /phone(?:s|no|num|number)?$/;
/** With a point behind them, they end no sentence. */
const abbreviated = setOf('tel ph mob num nr no');
const [mostWords, longestGap, longestWord] = [3, 6, 24];
const gap = ' \t:=#"\'*\\(_.-';

/**
 * Whether a word before a place says that what follows is the number of a phone. If it does, it does so too for each place
 * between them that is behind a whole word.
 */
export function isNamedPhone(text: string, at: number): boolean {
  let end = at;
  for (let nth = 0; nth < mostWords; nth++) {
    const wordEnd = beforeAll(isGap, text, end, longestGap);
    const start = beforeAll(isLetter, text, wordEnd, longestWord);
    if (start === wordEnd) return false;
    const word = text.slice(start, wordEnd).toLowerCase();
    if (text.slice(wordEnd, end).includes('.') && !abbreviated.has(word)) return false;
    if (names.has(word) || anyPhone.test(word)) return !/[A-Za-z\d]/.test(text.charAt(start - 1));
    if (!between.has(word)) return false;
    end = start;
  }
  return false;
}

/** Where the characters of this kind before a place begin, if they are not more than so many. */
function beforeAll(isOne: (text: string, at: number) => boolean, text: string, end: number, most: number): number {
  let start = end;
  while (start > 0 && end - start < most && isOne(text, start - 1)) start--;
  return start;
}

function isGap(text: string, at: number): boolean {
  return gap.includes(text.charAt(at));
}

function isLetter(text: string, at: number): boolean {
  const lower = text.charCodeAt(at) | 0x20;
  return lower >= 0x61 && lower <= 0x7a;
}

function setOf(words: string): ReadonlySet<string> {
  return new Set(words.split(' '));
}
