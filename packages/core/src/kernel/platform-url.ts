/** The parser of the WHATWG URL standard, which every platform has. The core is compiled without a platform's types. */
declare const URL: {
  canParse(text: string): boolean;
  new (text: string): ParsedUrl;
};

export interface ParsedUrl {
  readonly hostname: string;
  readonly pathname: string;
}

/** Undefined where the standard refuses the text. It is asked first, as an error would take ten times as long. */
export function parseUrl(text: string): ParsedUrl | undefined {
  return URL.canParse(text) ? new URL(text) : undefined;
}
