const simple: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  e: '\x1b',
  E: '\x1b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
  "'": "'",
  '"': '"',
  '?': '?',
};

/** The text that `$'…'` stands for, from the text between its quotes (bash, "ANSI-C Quoting"). */
export function decodeAnsiC(text: string): string {
  const pattern = /\\(?:x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|([0-7]{1,3})|c(.)|(.))/gs;
  const decoded = text.replaceAll(pattern, (whole, hex, short, long, octal, control, other) => {
    if (hex !== undefined) return characterOf(Number.parseInt(hex, 16));
    if (short !== undefined) return characterOf(Number.parseInt(short, 16));
    if (long !== undefined) return characterOf(Number.parseInt(long, 16));
    if (octal !== undefined) return characterOf(Number.parseInt(octal, 8) & 0xff);
    if (control !== undefined) return characterOf(String(control).charCodeAt(0) & 0x1f);
    return simple[String(other)] ?? whole;
  });
  // The shell ends the text at a NUL.
  const end = decoded.indexOf('\0');
  return end < 0 ? decoded : decoded.slice(0, end);
}

function characterOf(code: number): string {
  return code > 0x10ffff ? '\ufffd' : String.fromCodePoint(code);
}
