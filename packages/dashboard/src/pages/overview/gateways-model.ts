import type { Answer } from '../../api/send.ts';
import type { Tone } from '../../ui/tone.ts';

export type Gateway = Answer<'listGateways'>['gateways'][number];

interface Remark {
  readonly tone: Tone;
  readonly text: string;
}

const list = new Intl.ListFormat('en');

/** What a person should know before reading the rows. Nothing if all is well. */
export function remarksOn(gateways: readonly Gateway[]): Remark[] {
  const lost = gateways.filter(({ state }) => state === 'lost').length;
  const share = `${lost} of ${gateways.length}`;
  const words =
    lost === 1 ? `${share} is lost. The rest serve its agents.` : `${share} are lost. The rest serve their agents.`;
  const versions = versionsOf(gateways);
  return [
    ...(lost === 0 ? [] : [{ tone: 'danger', text: words } as const]),
    ...(versions.length < 2 ? [] : [{ tone: 'warn', text: `Versions differ: ${list.format(versions)}.` } as const]),
  ];
}

export function hasMixedVersions(gateways: readonly Gateway[]): boolean {
  return versionsOf(gateways).length > 1;
}

/** A lost gateway serves nobody, so its version does not matter. */
function versionsOf(gateways: readonly Gateway[]): string[] {
  const running = gateways.filter(({ state }) => state !== 'lost');
  return [...new Set(running.map(({ version }) => version))].toSorted();
}

/** The first part of a UUID. */
export function shortId(id: string): string {
  return id.split('-', 1)[0]?.length === 8 ? id.slice(0, 8) : id;
}
