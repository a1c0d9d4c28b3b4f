interface SuspendedScope {
  readonly org_id: string | null;
  readonly team_id: string | null;
}

/** What is suspended, at the beginning of a sentence. */
export function nameOfSuspended({ org_id: org, team_id: team }: SuspendedScope): string {
  if (org === null) return 'Everything';
  const name = (id: string) => (id === '' ? '-' : id);
  return team === null ? `Org ${name(org)}` : `Team ${name(org)}/${name(team)}`;
}
