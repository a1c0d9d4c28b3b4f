/** Where the program finds its ways out, in a namespace of its own: beside the address that programs listen on themselves. */
export const insideHost = '127.0.0.2';
export const insidePorts = { proxy: 20_128, gateway: 20_127 } as const;

export type InsideName = keyof typeof insidePorts;
