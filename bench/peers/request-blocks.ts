/**
 * The header blocks of equal requests on one connection. The first adds its fields to the dynamic table (RFC 7541,
 * section 6.2.1) and the later ones name them there, as the usual clients do.
 */
export interface RequestBlocks {
  readonly first: Buffer;
  readonly later: Buffer;
  /** A later request to the other path, which is not added. */
  readonly other: Buffer;
}

const staticIndex = { authority: 1, path: 4, methodPost: 3, schemeHttp: 6 } as const;
const staticEntries = 61;

export function requestBlocks(
  authority: string,
  path: string,
  contentType: string,
  otherPath: string = path,
): RequestBlocks {
  const indexed = [0x80 | staticIndex.methodPost, 0x80 | staticIndex.schemeHttp];
  const added = [
    [Buffer.from([0x40 | staticIndex.path]), text(path)],
    [Buffer.from([0x40 | staticIndex.authority]), text(authority)],
    ...Object.entries({ te: 'trailers', 'content-type': contentType, 'user-agent': 'reeve-bench' }).map(
      ([name, value]) => [Buffer.from([0x40]), text(name), text(value)],
    ),
  ].map((parts) => Buffer.concat(parts));
  // The latest entry has the lowest index.
  const [pathAdded = 0, ...restAdded] = added.map((_, at) => 0x80 | (staticEntries + added.length - at));
  return {
    first: Buffer.concat([Buffer.from(indexed), ...added]),
    later: Buffer.from([...indexed, pathAdded, ...restAdded]),
    other: Buffer.concat([Buffer.from([...indexed, staticIndex.path]), text(otherPath), Buffer.from(restAdded)]),
  };
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value, 'latin1');
  if (bytes.length >= 127) throw new Error(`a header value of ${bytes.length} bytes is not supported`);
  return Buffer.concat([Buffer.from([bytes.length]), bytes]);
}
