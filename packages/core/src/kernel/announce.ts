/** What follows from an event. Reactions run in order, in the same turn, before anything is durable. */
export type Reactions<Happened> = readonly ((happened: Happened) => void)[];

export function announce<Happened>(reactions: Reactions<Happened>, happened: Happened): void {
  for (const react of reactions) react(happened);
}
