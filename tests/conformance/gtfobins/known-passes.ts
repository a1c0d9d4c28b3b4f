const files = 'it runs what is in files of the project, which an agent may write';
const code = 'code of its language, on its line, is not read';

/** Programs of which a command line passes under the pack, which allows them for everyday work, and why. */
export const knownPasses: Readonly<Record<string, string>> = {
  bundle: files,
  cmake: files,
  composer: files,
  go: files,
  java: files,
  npm: files,
  node: code,
  php: code,
  python: code,
  ruby: code,
};
