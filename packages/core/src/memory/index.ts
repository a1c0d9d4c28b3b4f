export { MemoryAccountStore } from './memory-account-store.ts';
export { MemoryStore } from './memory-store.ts';
