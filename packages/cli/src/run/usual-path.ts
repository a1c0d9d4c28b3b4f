/** Where programs are if the environment does not say. */
export const usualPath = '/usr/local/bin:/usr/bin:/bin';
