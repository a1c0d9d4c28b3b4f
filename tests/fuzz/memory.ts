/** What the process of a gateway occupies, by its own account. */
export async function residentBytes(base: string): Promise<number> {
  const text = await (await fetch(`${base}/metrics`)).text();
  return Number(/^process_resident_memory_bytes (\S+)$/m.exec(text)?.[1]);
}

/** Far more than a run needs, far less than a leak of what is sent would take. */
export const mostGrowth = 400 * 1024 * 1024;
