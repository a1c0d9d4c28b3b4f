declare module '*.css';

declare module 'virtual:policy-packs' {
  /** The documents of each pack, as the command line ships them. */
  export const policyPacks: Readonly<
    Record<'starter' | 'coding-agents' | 'flow' | 'mcp' | 'models', readonly string[]>
  >;
}
