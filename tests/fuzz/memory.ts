/** The memory of a gateway process, by its own account. */
export async function residentBytes(base: string): Promise<number> {
  const text = await (await fetch(`${base}/metrics`)).text();
  return Number(/^process_resident_memory_bytes (\S+)$/m.exec(text)?.[1]);
}

/** Far more than a run needs, far less than a leak of the sent data would take. */
export const mostGrowth = 400 * 1024 * 1024;
