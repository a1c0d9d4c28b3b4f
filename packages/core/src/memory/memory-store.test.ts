import type { OpenStore } from '../testkit/index.ts';
import { storeConformance } from '../testkit/index.ts';
import { MemoryStore } from './memory-store.ts';

function open(): OpenStore {
  const store = new MemoryStore();
  return { store, reader: store, close: () => store.close() };
}

storeConformance('the memory store', () => ({ open, dispose: () => undefined }), {
  forgetsBecause: '"memory:" promises nothing durable',
  neverFailsLateBecause: 'rows in memory are put in place by assignment, which cannot fail',
});
