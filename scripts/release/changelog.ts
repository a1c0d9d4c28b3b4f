/** Keep a Changelog: the heading under which changes are collected until the next release. */
const unreleased = '## [Unreleased]';

/** The changelog with what was unreleased under a version. An empty heading for the next release stays above it. */
export function withRelease(changelog: string, version: string, date: string): string {
  if (changelog.includes(`## [${version}]`)) throw new Error(`the changelog has a release ${version} already`);
  // Throws if there is nothing to release.
  notesUnder(changelog, unreleased);
  return changelog.replace(`${unreleased}\n`, `${unreleased}\n\n## [${version}] - ${date}\n`);
}

/** What a release is about, in the words of the changelog. */
export function releaseNotes(changelog: string, version: string): string {
  const heading = changelog.split('\n').find((line) => line.startsWith(`## [${version}]`));
  if (heading === undefined) throw new Error(`the changelog has no release ${version}`);
  return `# Reeve ${version}\n\n${notesUnder(changelog, heading)}\n`;
}

function notesUnder(changelog: string, heading: string): string {
  const lines = changelog.split('\n');
  const start = lines.indexOf(heading);
  if (start === -1) throw new Error(`the changelog has no line "${heading}"`);
  const end = lines.findIndex((line, at) => at > start && line.startsWith('## '));
  const notes = lines
    .slice(start + 1, end === -1 ? undefined : end)
    .join('\n')
    .trim();
  if (notes === '') throw new Error(`the changelog says nothing under "${heading}"`);
  return notes;
}
