/** Whether somebody who accepts this would rather have a page than JSON. Equal weights mean JSON. */
export function prefersPage(accept: string | undefined): boolean {
  if (accept === undefined) return false;
  const ranges = accept.split(',').map((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
    return { type, weight: weight === undefined ? 1 : Number(weight) };
  });
  // The narrowest range that names a type has its weight (RFC 9110, 12.5.1).
  const weightOf = (...types: readonly string[]) =>
    types.flatMap((type) => ranges.filter((range) => range.type === type))[0]?.weight ?? 0;
  const json = Math.max(
    weightOf('application/json', 'application/*', '*/*'),
    weightOf('application/problem+json', 'application/*', '*/*'),
  );
  return weightOf('text/html', 'text/*', '*/*') > json;
}
