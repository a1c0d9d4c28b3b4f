const wholeForm = /^(rvk_[a-z2-7]{12})_[0-9A-Za-z]{46}$/;

/** The start of an API key, enough to identify it: its id, which is not secret, or a few characters. */
export function keyHint(key: string): string {
  // A refresh token, which stands for a person. None of it identifies anything.
  if (key.startsWith('rvr_')) return 'rvr_…';
  const known = wholeForm.exec(key)?.[1];
  return `${known ?? key.slice(0, Math.min(8, Math.floor(key.length / 3)))}…`;
}
