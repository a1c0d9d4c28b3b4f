/** What a client asks a server for, besides calls of tools, that can be a check. */
const askedByClients = ['resources/read', 'resources/subscribe', 'prompts/get'];
/** What a server asks a client for that can be a check. */
const askedByServers = ['sampling/createMessage', 'elicitation/create'];
const known = [...askedByClients, ...askedByServers];

/** The methods that are checks, besides calls of tools. */
export interface GovernedMethods {
  readonly ofClient: ReadonlySet<string>;
  readonly ofServer: ReadonlySet<string>;
}

export const toolsAlone: GovernedMethods = methodsOf([]);

/** Reads a list of methods, or `all`. Throws an error that names what is not known. */
export function governedMethods(list: readonly string[]): GovernedMethods {
  const unknown = list.find((name) => name !== 'all' && !known.includes(name));
  if (unknown !== undefined) {
    throw new Error(`${JSON.stringify(unknown)} cannot be governed; there are all, ${known.join(', ')}`);
  }
  if (list.length === 0) throw new Error(`name what to govern: all, ${known.join(', ')}`);
  return methodsOf(list.includes('all') ? known : list);
}

/** What either of them names. */
export function bothOf(one: GovernedMethods, other: GovernedMethods): GovernedMethods {
  return methodsOf([one, other].flatMap(({ ofClient, ofServer }) => [...ofClient, ...ofServer]));
}

function methodsOf(names: readonly string[]): GovernedMethods {
  return {
    ofClient: new Set(askedByClients.filter((name) => names.includes(name))),
    ofServer: new Set(askedByServers.filter((name) => names.includes(name))),
  };
}
