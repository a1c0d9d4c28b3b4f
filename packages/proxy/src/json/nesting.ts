/** Reading what is nested a million times takes seconds. No message is nested like that. */
const deepest = 1000;

/** Whether a JSON text is nested more deeply than any message has reason to be. */
export function isTooDeep(text: string): boolean {
  if (text.length < deepest) return false;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === 0x22) at = endOfText(text, at);
    // [ and {
    else if (char === 0x5b || char === 0x7b) {
      if (++depth > deepest) return true;
    }
    // ] and }
    else if (char === 0x5d || char === 0x7d) depth--;
  }
  return false;
}

/** Where the text that begins here ends. A quote after an odd number of backslashes belongs to it. */
function endOfText(text: string, from: number): number {
  for (let at = text.indexOf('"', from + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let before = at;
    while (text.charCodeAt(before - 1) === 0x5c) before--;
    if ((at - before) % 2 === 0) return at;
  }
  return text.length;
}
