/**
 * What the compiler leaves as it is in the code of a published package. Lines stay where they are, so source maps hold.
 * Threads are named by a file of the sources, and the version is read from the manifest: older versions of Node warn
 * about modules of JSON.
 */
export function publishedCode(code: string, version: string): string {
  const published = code
    .replaceAll(/new URL\('([^']+)\.ts', import\.meta\.url\)/g, "new URL('$1.js', import.meta.url)")
    .replaceAll(
      /^import (\w+) from '(?:\.\.\/)+package\.json' with \{ type: 'json' \};$/gm,
      `const $1 = { version: '${version}' };`,
    );
  const left = /(?:\/package\.json|\.ts)'/.exec(published.replaceAll(/^\s*(?:\/\/|\*|\/\*).*$/gm, ''));
  if (left !== null) throw new Error(`the code names a file that is not published: ${around(published, left[0])}`);
  return published;
}

/**
 * The compiler rewrites the names of modules in code and leaves them in declarations, where not every version of it
 * takes them.
 */
export function publishedDeclarations(text: string): string {
  return text.replaceAll(/(from |import\()(['"])(\.[^'"]+)\.ts\2/g, '$1$2$3.js$2');
}

function around(code: string, part: string): string {
  return code.split('\n').find((line) => line.includes(part)) ?? part;
}
