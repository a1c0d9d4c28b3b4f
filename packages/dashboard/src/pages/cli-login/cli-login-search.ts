import type { RawSearch } from '../../shell/search.ts';
import { text } from '../../shell/search.ts';

/** What the command that asks has put into its link. Members are missing if the link is damaged. */
export interface CliLoginSearch {
  /** Where the command listens, on this computer. */
  readonly port?: string | undefined;
  /** The SHA-256 of what only the command knows. */
  readonly challenge?: string | undefined;
  readonly state?: string | undefined;
}

export function parseCliLoginSearch(raw: RawSearch): CliLoginSearch {
  return { port: text(raw['port']), challenge: text(raw['challenge']), state: text(raw['state']) };
}

export interface AskingCommand {
  readonly port: number;
  readonly challenge: string;
  readonly state: string;
}

export function askingCommand({ port = '', challenge = '', state = '' }: CliLoginSearch): AskingCommand | undefined {
  const isPort = /^\d{4,5}$/.test(port) && Number(port) >= 1024 && Number(port) <= 65_535;
  const isWhole = isPort && /^[0-9a-f]{64}$/.test(challenge) && /^[\w-]{16,64}$/.test(state);
  return isWhole ? { port: Number(port), challenge, state } : undefined;
}

/** Where the command waits for the code. It is always on this computer. */
export function commandUrl({ port, state }: AskingCommand, code: string): string {
  return `http://127.0.0.1:${port}/?${new URLSearchParams({ code, state }).toString()}`;
}
